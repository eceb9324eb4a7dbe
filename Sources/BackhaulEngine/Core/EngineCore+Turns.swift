internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Tasks that get a slot are run, and leave it again.
extension EngineCore {
    func startReadyTasks() {
        guard !hasFailed, !isLeaving else { return }
        probeInTurn()
        while transfers.room > 0, let effect = scheduler.next() { apply([effect]) }
    }

    /// What a task waits for may have come since it was loaded: a credential, or the end of its time.
    func start(_ task: StoredTask, isProbe: Bool) {
        guard transfers[task.id] == nil else { return scheduler.released(task.lane, isProbe: isProbe) }
        let (startable, effects) = credentials.admit([task])
        apply(effects)
        guard !startable.isEmpty else { return scheduler.released(task.lane, isProbe: isProbe) }
        run(task, holdsTurn: true, isProbe: isProbe)
    }

    func run(_ task: StoredTask, holdsTurn: Bool, isProbe: Bool = false, probe: ProbeKind? = nil) {
        guard let configuration = sessions[task.session] else {
            if holdsTurn { scheduler.released(task.lane, isProbe: isProbe) }
            return
        }
        let runner =
            task.request.kind == .upload
            ? UploadRunner(task: task, configuration: configuration, core: self, holdsTurn: holdsTurn)
            : DownloadRunner(task: task, configuration: configuration, core: self, holdsTurn: holdsTurn)
        runner.isProbe = isProbe
        runner.probe = probe
        transfers.add(runner)
        endDelay(of: task.id)
        deferral.busy.note(taskClass(of: task), now: loop.now)
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !tickerRuns {
            tickerRuns = true
            ticker?.start(milliseconds: 1_000)
        }
        runner.start()
        progress.plan()
    }

    func finished(_ runner: TaskRunner) {
        guard transfers.remove(runner) else { return }
        deferral.busy.note(taskClass(of: runner.task), now: loop.now)
        // While it is known on which network.
        countMoved()
        rates.end(runner.task.id)
        // Before others that were loaded meanwhile.
        if runner.gaveWay { scheduler.tasksWait(in: [runner.task.lane], reload: true) }
        progress.ended(runner.task.id, of: runner.task.session) { runner.lastReading }
        if case .throughput(let key, _, _)? = runner.probe { endThroughputProbe(of: key, runner) }
        tasksLeft([runner.task.lane])
        if transfers.runners.isEmpty { planPruning() }
        considerSleep()
        runner.leaveCredentials()
        if runner.head != nil { reachability.connected() }
        if runner.wasCancelled { leftovers.sweep() }
        leaveIfDone()
        scheduler.plan()
        idle.mayBeIdle()
        idle.noteWork()
    }

    func tick() {
        tickerRuns = !transfers.runners.isEmpty && !hasFailed
        guard tickerRuns else { return }
        calendar.look()
        for runner in Array(transfers.all) { runner.tick() }
        countMoved()
        endOverdue()
        measureThroughput()
        prune()
        ticker?.start(milliseconds: 1_000)
    }
}
