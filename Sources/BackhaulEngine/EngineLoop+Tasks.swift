internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts of tasks that have a slot, and their ends.
extension EngineLoop {
    func startReadyTasks() {
        guard !life.isEnding else { return }
        apply(conditions.judgePlanned())
        apply(holding.probes.takeFreeSlot())
        while base.transfers.room > 0, let effect = tasks.scheduler.next() { apply([effect]) }
    }

    /// Starts a task that has a slot, unless it has to wait for a credential. A challenge may have been opened since
    /// the task was loaded.
    func start(_ task: StoredTask, isProbe: Bool) {
        guard base.transfers[task.id] == nil else { return tasks.scheduler.released(task.lane, isProbe: isProbe) }
        let (startable, effects) = base.credentials.admit([task])
        apply(effects)
        guard !startable.isEmpty else { return tasks.scheduler.released(task.lane, isProbe: isProbe) }
        run(task, holdsSlot: true, isProbe: isProbe)
    }

    func run(_ task: StoredTask, holdsSlot: Bool, isProbe: Bool = false) {
        guard let configuration = base.sessions[task.session] else {
            if holdsSlot { tasks.scheduler.released(task.lane, isProbe: isProbe) }
            return
        }
        let attempt = RunningAttempt(task, configuration, starting.context, holdsSlot: holdsSlot, isProbe: isProbe)
        let runner: any TransferRunner =
            task.request.kind == .upload ? UploadRunner(attempt) : DownloadRunner(attempt)
        base.transfers.add(runner)
        holding.admission.endDelay(of: task.id)
        holding.holds.noteBusy(task)
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !housekeeping.ticker.isRunning { housekeeping.ticker.start(milliseconds: 1_000) }
        runner.start()
        clients.progress.plan()
    }

    func finished(_ runner: any TransferRunner) {
        guard base.transfers.remove(runner) else { return }
        let task = runner.attempt.task
        holding.holds.noteBusy(task)
        // Counts the bytes of the task while the network that it used is known.
        apply(holding.budgets.count())
        base.rates.end(task.id)
        // The lane is loaded again, so that the task comes before those that were loaded meanwhile.
        if runner.attempt.departure == .preempted { tasks.scheduler.tasksWait(in: [task.lane], reload: true) }
        clients.progress.ended(task.id, of: task.session) { runner.lastProgress }
        apply(holding.probes.ended(task.id, hasAnswered: runner.attempt.left.0 == .succeeded))
        tasksLeft([task.lane])
        reloadIfHeld(task)
        if base.transfers.isEmpty { conditions.planPruning() }
        housekeeping.sleep.consider()
        runner.leaveCredentials()
        if runner.head != nil { tasks.reachability.connected() }
        if runner.attempt.departure == .cancelled { housekeeping.leftovers.sweep() }
        leaveIfDone()
        tasks.scheduler.plan()
        housekeeping.idle.mayBeIdle()
        housekeeping.idle.noteWork()
    }

    /// Loads the lane if tasks of it are held. Only a load finds that no other task waits, and then ends the hold.
    private func reloadIfHeld(_ task: StoredTask) {
        let holds = holding.holds
        guard holds.isHeld(LaneGroup(of: task), in: holds.group(of: task)) else { return }
        tasks.scheduler.tasksWait(in: [task.lane], reload: false)
    }

    func tick() {
        guard !base.transfers.isEmpty, life.failure == nil else { return }
        base.calendar.look()
        for runner in Array(base.transfers.all) { runner.tick() }
        apply(holding.budgets.count())
        apply(tasks.deadlines.endOverdueReadyTasks())
        measureThroughput()
        apply(conditions.prune())
        housekeeping.ticker.start(milliseconds: 1_000)
    }

    private func measureThroughput() {
        guard holding.holds.hasMinimumRate else { return }
        let scheduler = tasks.scheduler
        let samples = base.transfers.all.lazy.filter { scheduler.reach(of: $0.attempt.task) != .thisMachine }
            .map { runner in
                ThroughputController.Sample(
                    task: runner.attempt.task.id, key: LaneGroup(of: runner.attempt.task),
                    bytes: runner.waitsForNetwork ? runner.attempt.exchange.rate.lastSecond : nil,
                    began: runner.attempt.began)
            }
        if holding.throughput.measure(Array(samples)) { apply(holding.probes.reconsiderThroughput()) }
    }

    /// Starts a probe. Returns false when the task may not run any more.
    func startProbe(_ task: StoredTask, _ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        guard !life.isEnding, base.sessions[task.session] != nil, base.transfers[task.id] == nil,
            holding.probes.isStillToProbe(key, kind), !holding.admission.admit([task], in: key.lane).isEmpty
        else { return false }
        let (startable, effects) = base.credentials.admit([task])
        apply(effects)
        if startable.isEmpty { return false }
        holding.probes.began(task.id, key, kind)
        run(task, holdsSlot: true)
        return true
    }

    /// Runs tasks whose resource time-out is over, so that they end. For this they need neither a slot nor conditions.
    func endOverdue(_ overdue: [StoredTask]) {
        for task in overdue where base.transfers[task.id] == nil {
            tasks.scheduler.drop(task.id)
            run(task, holdsSlot: false)
        }
    }
}
