internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts tasks that have a slot (the right to run), and handles the ends of running tasks.
extension EngineLoop {
    func startReadyTasks() {
        guard !lifecycle.isEnding else { return }
        queue(conditions.evaluatePlanned())
        queue(conditionParts.probes.takeFreeSlot())
        queue([.startNext])
    }

    /// Starts tasks while the limits permit it. Each effect is applied before the next call of the scheduler, because a
    /// start may change the state of its lane.
    func startNext() {
        while base.transfers.availableCapacity > 0, let effect = tasks.scheduler.next() { apply(effect) }
    }

    /// Starts a task that has a slot. If the task has to wait for a credential, releases the slot instead. A challenge
    /// (a server's demand for a credential) may have been opened after the task was loaded.
    func start(_ task: StoredTask, runsAlone: Bool) {
        guard base.transfers[task.id] == nil else { return tasks.scheduler.released(task.lane, runsAlone: runsAlone) }
        let (startable, effects) = base.credentials.admit([task])
        queue(effects)
        guard !startable.isEmpty else { return tasks.scheduler.released(task.lane, runsAlone: runsAlone) }
        run(task, holdsSlot: true, runsAlone: runsAlone)
    }

    /// `onlyEnds`: whether the run only ends the task, because its resource time-out is over.
    func run(_ task: StoredTask, holdsSlot: Bool, runsAlone: Bool = false, onlyEnds: Bool = false) {
        guard let configuration = base.sessions[task.session] else {
            if holdsSlot { tasks.scheduler.released(task.lane, runsAlone: runsAlone) }
            return
        }
        let attempt = RunningAttempt(
            task, configuration, startParts.context, holdsSlot: holdsSlot, runsAlone: runsAlone)
        let runner: any TransferRunner =
            task.request.kind == .upload ? UploadRunner(attempt) : DownloadRunner(attempt)
        base.transfers.add(runner)
        conditionParts.admission.endDelay(of: task.id)
        conditionParts.holds.noteBusy(task)
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !housekeeping.ticker.isRunning { housekeeping.ticker.start(milliseconds: 1_000) }
        onlyEnds ? runner.expire() : runner.start()
        clients.progress.plan()
    }

    func finished(_ runner: any TransferRunner) {
        guard base.transfers.remove(runner) else { return }
        let task = runner.attempt.task
        conditionParts.holds.noteBusy(task)
        // The bytes of the task are counted now, while the engine knows which network the task used.
        queue(conditionParts.budgets.count())
        base.rates.end(task.id)
        // If a more important task has stopped this task, the lane of this task (the tasks of a session for a server)
        // is loaded again from the store. A load returns the tasks of a lane in the lane's order. So this task comes
        // before the tasks of the lane that were loaded while this task ran.
        if runner.attempt.stopReason == .preempted { tasks.scheduler.tasksWait(in: [task.lane], reload: true) }
        clients.progress.ended(task.id, of: task.session) { runner.lastProgress }
        queue(conditionParts.probes.ended(task.id, hasResponse: runner.attempt.stoppedState.0 == .succeeded))
        tasksStopped([task.lane])
        reloadIfHeld(task)
        if base.transfers.isEmpty { conditions.schedulePruning() }
        housekeeping.sleep.consider()
        runner.endCredentialUse()
        if runner.head != nil { tasks.reachability.connected() }
        if runner.attempt.stopReason == .cancelled { housekeeping.leftovers.sweep() }
        finishDrainingIfDone()
        tasks.scheduler.plan()
        housekeeping.idle.mayBeIdle()
        housekeeping.idle.noteWork()
    }

    /// Loads the task's lane from the store if the task's lane group is held. A *lane group* is the tasks of a lane
    /// with the same constraints. It is *held* if its tasks must wait, for example for external power. The load shows
    /// whether tasks of the lane group still wait. If none waits, the hold ends.
    private func reloadIfHeld(_ task: StoredTask) {
        let holds = conditionParts.holds
        guard holds.isHeld(LaneGroup(of: task), in: holds.group(of: task)) else { return }
        tasks.scheduler.tasksWait(in: [task.lane], reload: false)
    }

    func tick() {
        guard !base.transfers.isEmpty, lifecycle.failure == nil else { return }
        base.calendar.check()
        for runner in Array(base.transfers.all) { runner.tick() }
        queue(conditionParts.budgets.count())
        queue(tasks.deadlines.endOverdueReadyTasks())
        measureThroughput()
        queue(conditions.prune())
        housekeeping.ticker.start(milliseconds: 1_000)
    }

    private func measureThroughput() {
        guard conditionParts.holds.hasMinimumRate else { return }
        let scheduler = tasks.scheduler
        let samples = base.transfers.all.lazy.filter { scheduler.networkScope(of: $0.attempt.task) != .loopback }
            .map { runner in
                ThroughputController.Sample(
                    task: runner.attempt.task.id, key: LaneGroup(of: runner.attempt.task),
                    bytes: runner.waitsForNetwork ? runner.attempt.exchange.rate.lastSecond : nil,
                    began: runner.attempt.began)
            }
        if conditionParts.throughput.measure(Array(samples)) { queue(conditionParts.probes.reconsiderThroughput()) }
    }

    /// Starts a probe, a task that tests whether others may start. Returns false if the probe was not started, because
    /// the task is no longer permitted to run.
    func startProbe(_ task: StoredTask, _ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        guard !lifecycle.isEnding, base.sessions[task.session] != nil, base.transfers[task.id] == nil,
            conditionParts.probes.needsProbe(key, kind), !conditionParts.admission.admit([task], in: key.lane).isEmpty
        else { return false }
        let (startable, effects) = base.credentials.admit([task])
        queue(effects)
        if startable.isEmpty { return false }
        conditionParts.probes.began(task.id, key, kind)
        run(task, holdsSlot: true)
        return true
    }

    /// Runs tasks whose resource time-out (the longest permitted time until the end of the task) is over. Each run only
    /// ends its task. So the run needs no slot, and no condition is checked for it.
    func endOverdue(_ overdue: [StoredTask]) {
        for task in overdue where base.transfers[task.id] == nil {
            tasks.scheduler.drop(task.id)
            run(task, holdsSlot: false, onlyEnds: true)
        }
    }
}
