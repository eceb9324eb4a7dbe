internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Tasks that get a slot are run, and leave it again.
extension EngineCore {
    func startReadyTasks() {
        guard !hasFailed, !isLeaving else { return }
        apply(probes.takeFreeSlot())
        while transfers.room > 0, let effect = scheduler.next() { apply([effect]) }
    }

    /// What a task waits for may have come since it was loaded: a credential, or the end of its time.
    func start(_ task: StoredTask, isProbe: Bool) {
        guard transfers[task.id] == nil else { return scheduler.released(task.lane, isProbe: isProbe) }
        let (startable, effects) = credentials.admit([task])
        apply(effects)
        guard !startable.isEmpty else { return scheduler.released(task.lane, isProbe: isProbe) }
        run(task, holdsSlot: true, isProbe: isProbe)
    }

    func run(_ task: StoredTask, holdsSlot: Bool, isProbe: Bool = false) {
        guard let configuration = sessions[task.session] else {
            if holdsSlot { scheduler.released(task.lane, isProbe: isProbe) }
            return
        }
        let attempt = RunningAttempt(task, configuration, transferContext, holdsSlot: holdsSlot, isProbe: isProbe)
        let runner: any TransferRunner =
            task.request.kind == .upload ? UploadRunner(attempt) : DownloadRunner(attempt)
        transfers.add(runner)
        admission.endDelay(of: task.id)
        holds.noteBusy(task)
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !tickerRuns {
            tickerRuns = true
            ticker?.start(milliseconds: 1_000)
        }
        runner.start()
        progress.plan()
    }

    func finished(_ runner: any TransferRunner) {
        guard transfers.remove(runner) else { return }
        let task = runner.attempt.task
        holds.noteBusy(task)
        // The network is known now.
        apply(budgets.count())
        rates.end(task.id)
        // Before others that were loaded meanwhile.
        if runner.attempt.departure == .preempted { scheduler.tasksWait(in: [task.lane], reload: true) }
        progress.ended(task.id, of: task.session) { runner.lastProgress }
        apply(probes.ended(task.id, hasAnswered: runner.attempt.left.0 == .succeeded))
        tasksLeft([task.lane])
        if transfers.isEmpty { conditions.planPruning() }
        sleep.consider()
        runner.leaveCredentials()
        if runner.head != nil { reachability.connected() }
        if runner.attempt.departure == .cancelled { leftovers.sweep() }
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
        apply(budgets.count())
        apply(deadlines.endOverdueReadyTasks())
        measureThroughput()
        apply(conditions.prune())
        ticker?.start(milliseconds: 1_000)
    }

    private func measureThroughput() {
        guard holds.hasMinimumRate else { return }
        let samples = transfers.all.lazy.filter { [self] in scheduler.reach(of: $0.attempt.task) != .thisMachine }
            .map { runner in
                ThroughputController.Sample(
                    task: runner.attempt.task.id, key: LaneGroup(of: runner.attempt.task),
                    bytes: runner.waitsForNetwork ? runner.attempt.exchange.rate.lastSecond : nil,
                    began: runner.attempt.began)
            }
        if throughput.measure(Array(samples)) { apply(probes.reconsiderThroughput()) }
    }

    /// False: the task may not run any more.
    func startProbe(_ task: StoredTask, _ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        guard !hasFailed, !isLeaving, sessions[task.session] != nil, transfers[task.id] == nil,
            probes.isStillToProbe(key, kind), !admission.admit([task], in: key.lane).isEmpty
        else { return false }
        let (startable, effects) = credentials.admit([task])
        apply(effects)
        if startable.isEmpty { return false }
        probes.began(task.id, key, kind)
        run(task, holdsSlot: true)
        return true
    }

    /// Their time is over. They need neither a slot nor good conditions to end.
    func endOverdue(_ tasks: [StoredTask]) {
        for task in tasks where transfers[task.id] == nil {
            scheduler.drop(task.id)
            run(task, holdsSlot: false)
        }
    }
}
