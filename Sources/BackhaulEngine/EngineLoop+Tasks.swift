internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Starts tasks that have a slot, and applies the effects of their attempts.
extension EngineLoop {
    func startReadyTasks() {
        if tasks.origins.takeChange() { updateOriginWidths() }
        guard !lifecycle.isEnding else { return }
        queue(conditions.evaluatePlanned())
        queue(conditions.takeFreeSlot())
        queue([.startNext])
    }

    /// Starts tasks while the limits permit it. Each effect is applied before the next call of the scheduler, because a
    /// start may change the state of its lane.
    func startNext() {
        while base.transfers.availableCapacity > 0, let effect = tasks.scheduler.next() { apply(effect) }
    }

    /// Starts a task that has a slot. If the task has to wait for a credential, releases the slot instead. A challenge
    /// may have been opened after the task was loaded.
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
        let remaining = base.calendar.remainingMilliseconds(of: task, configuration)
        let terms = RunningAttempt.Terms(
            number: base.transfers.newAttempt(), configuration: configuration,
            policy: TransferPolicy(configuration, task.request.options.policy), began: runtime.now,
            deadline: remaining < .max - runtime.now ? runtime.now + remaining : .max,
            neededSpace: base.transfers.neededSpace(of: task.id),
            cookies: base.cookies.jar(of: task.session))
        let attempt = RunningAttempt(task, terms, startParts.services, holdsSlot: holdsSlot, runsAlone: runsAlone)
        let runner: any TransferRunner =
            task.request.kind == .upload
            ? UploadRunner(attempt) : DownloadRunner(attempt, base.files.location(of: task))
        base.transfers.add(runner)
        endDelay(of: task.id)
        conditions.noteBusy(task)
        conditionParts.budgets.tasksChanged()
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !housekeeping.ticker.isRunning { housekeeping.ticker.start(milliseconds: 1_000) }
        queue(onlyEnds ? runner.expire() : runner.start())
        clients.progress.started(in: task.session)
    }

    // MARK: Effects of attempts

    func apply(_ effect: AttemptEffect, of attempt: RunningAttempt) {
        switch effect {
        case .releasedSlot:
            tasks.scheduler.released(attempt.task.lane)
            if tasks.scheduler.limitsOrigins { queue([.originsChanged]) }
        case .requestedConnection: tasks.scheduler.requestConnection(attempt)
        case .gotConnection: gotConnection(attempt)
        case .releasedConnection: tasks.scheduler.releasedConnection(attempt.task.lane)
        case .releaseSlotEarly: queue(base.transfers.releaseSlotEarly(attempt))
        case .finishedWithoutSlot(let device): base.transfers.endFinishing(on: device)
        case .endedRunningAlone: tasks.scheduler.endedRunningAlone(attempt.task.lane)
        case .multiplexing(let isMultiplexed): tasks.scheduler.setMultiplexed(attempt.task.lane, isMultiplexed)
        case .willWrite(let count, let device): base.transfers.willWrite(count, to: device)
        case .wrote(let count, let device): if base.transfers.wrote(count, to: device) { tasks.scheduler.plan() }
        case .fileSystemIsFull(let missing): base.transfers.recordFullFileSystem(attempt.task.id, missing: missing)
        case .fileSystemHasSpace: base.transfers.forgetNeededSpace(of: attempt.task.id)
        case .responded(let isFromServer):
            queue(tasks.reachability.responded(attempt.task.lane))
            if isFromServer { queue(conditions.responded(attempt.task)) }
        case .notChallenged: base.credentials.forgetRepeats(of: attempt.task.id)
        case .challenged(let authChallenge): queue(base.credentials.noteChallenge(authChallenge, attempt.task))
        case .challengeHandled(let space, let opened):
            queue(base.credentials.commitChallenge(space, opened, attempt.task.session))
        case .challengeClosed(let challenge): queue(base.credentials.closed([challenge], of: attempt.task.session))
        case .credentialsAccepted(let numbers): queue(base.credentials.accepted(numbers, attempt.task))
        case .urlAccepted: base.credentials.acceptedURL(of: attempt.task.id, attempt.task.session)
        case .uplinkJudged(let ending): queue(conditions.attemptEnded(attempt.task, ending))
        case .decideRetry(let failed, let checkpoint): decideRetry(failed, checkpoint, of: attempt)
        case .decideParking(let authChallenge, let checkpoint):
            let decision = base.credentials.decideParking(
                of: attempt.task, for: authChallenge.space, sent: attempt.authentication.sentCredential)
            queue(base.transfers[attempt]?.park(authChallenge, checkpoint, decision) ?? [])
        case .repeats(let counts): base.transfers.setRepeats(counts, of: attempt.task.id)
        case .waitForRoute(let record):
            let (millisecondsUntilCheck, effects) = tasks.reachability.hold(attempt.task)
            queue(effects)
            queue(base.transfers[attempt]?.waitForRoute(record, millisecondsUntilCheck) ?? [])
        case .waitForStorage(let path): housekeeping.storage.watch(path)
        case .partLeft: housekeeping.leftovers.sweep()
        case .uploadAbandoned: housekeeping.abandonedUploads.remove()
        case .writeEnd(let ending): tasks.endings.write(ending)
        case .rewriteEnd(let ending): tasks.endings.retryWrite(ending)
        case .finished: finished(attempt)
        }
    }

    /// Gives the connection to the attempt, or releases it if the attempt is over.
    private func gotConnection(_ attempt: RunningAttempt) {
        guard let runner = base.transfers[attempt] as? UploadRunner else {
            return tasks.scheduler.releasedConnection(attempt.task.lane)
        }
        queue(runner.useConnection())
    }

    /// Adds the facts about the failed attempt that other parts have, and lets the runner decide.
    private func decideRetry(_ failed: FailedAttempt, _ checkpoint: Checkpoint?, of attempt: RunningAttempt) {
        guard let runner = base.transfers[attempt] else { return }
        let task = attempt.task
        guard failed.redirectDelay == nil else { return queue(runner.decideRetry(failed, checkpoint)) }
        var failed = failed
        failed.hasNoRoute =
            !attempt.hasLeftOrigin
            && tasks.reachability.isUnreachable(task, failed.failure, attempt.exchange.failureContext)
        failed.waitsForClock = tasks.reachability.waitsForClock(attempt.exchange.failureContext)
        // If the kernel has no route, or the clock is not set, the cause of the failure is known, and it shows nothing
        // about the uplink. The kernel reports when there is a route again.
        if !failed.hasNoRoute, !failed.waitsForClock, let ending = runner.uplinkEnding(failed.failure) {
            queue(conditions.attemptEnded(task, ending))
        }
        failed.isUplinkFailure = conditions.isUplinkHeld(for: task) && !attempt.exchange.failureContext.isLocal
        failed.repeats = base.transfers.repeats(of: task.id)
        queue(runner.decideRetry(failed, checkpoint))
    }

    private func finished(_ attempt: RunningAttempt) {
        guard let runner = base.transfers.remove(attempt) else { return }
        let task = attempt.task
        if let ended = attempt.counted(status: runner.head?.status) { base.counters.ended(ended) }
        conditions.noteBusy(task)
        // The bytes of the task are counted now, while the engine knows which network the task used.
        queue(conditionParts.budgets.count())
        base.rates.end(task.id)
        tasks.scheduler.forgetConnectionRequest(of: attempt)
        // If a more important task has stopped this task, its lane is loaded again from the store. A load returns the
        // tasks of a lane in the lane's order. So this task comes before the tasks of the lane that were loaded while
        // this task ran.
        if attempt.stopReason == .preempted { tasks.scheduler.tasksWait(in: [task.lane], reload: true) }
        clients.progress.ended(task.id, of: task.session) { runner.lastProgress }
        queue(conditions.ended(task.id, hasResponse: attempt.stoppedState.0 == .succeeded))
        tasksStopped([task.lane])
        reloadIfHeld(task)
        if base.transfers.isEmpty { conditions.schedulePruning() }
        queue(housekeeping.sleep.consider())
        if runner.head != nil { tasks.reachability.connected() }
        if attempt.stopReason == .cancelled { housekeeping.leftovers.sweep() }
        finishDrainingIfDone()
        tasks.scheduler.plan()
        housekeeping.idle.mayBeIdle()
        housekeeping.idle.noteWork()
    }

    /// Loads the task's lane from the store if the task's lane group is held. The load shows whether tasks of the lane
    /// group still wait. If none waits, the hold ends.
    private func reloadIfHeld(_ task: StoredTask) {
        if conditions.isHeld(task) { tasks.scheduler.tasksWait(in: [task.lane], reload: false) }
    }

    func tick() {
        guard !base.transfers.isEmpty, lifecycle.failure == nil else { return }
        base.calendar.check()
        queue(base.transfers.tick())
        queue(conditionParts.budgets.count())
        queue(tasks.deadlines.checkReadyTasks())
        measureThroughput()
        queue(conditions.prune())
        housekeeping.ticker.start(milliseconds: 1_000)
    }

    private func measureThroughput() {
        guard conditions.holds.hasMinimumRate else { return }
        let samples = base.transfers.samples { tasks.scheduler.networkScope(of: $0) != .loopback }
        queue(conditions.measure(samples))
    }

    /// Starts a probe. Returns false if the probe was not started, because the task is no longer permitted to run.
    func startProbe(_ task: StoredTask, _ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        guard !lifecycle.isEnding, base.sessions[task.session] != nil, base.transfers[task.id] == nil,
            conditions.needsProbe(key, kind)
        else { return false }
        let (budgetDelays, lane) = (conditionParts.budgetDelays, tasks.scheduler.lanes[key.lane])
        let decision = LoadDecision([task.candidate], budgets: budgetDelays.budgets(in: lane))
        queue(budgetDelays.apply(decision, in: lane))
        guard decision.ready.contains(task.id) else { return false }
        let (startable, effects) = base.credentials.admit([task])
        queue(effects)
        if startable.isEmpty { return false }
        conditions.probeBegan(task.id, key, kind)
        run(task, holdsSlot: true)
        return true
    }

    /// Runs tasks with complete files. This needs no request and so no slot, and the origin may be paused. If a file
    /// turns out to be missing, its task waits for a slot.
    func finish(_ complete: [StoredTask]) {
        for task in complete where base.transfers[task.id] == nil { run(task, holdsSlot: false) }
    }

    /// Runs tasks whose resource time-out is over. Each run only ends its task. So the run needs no slot, and no
    /// condition is checked for it. A longer time-out, or a clock step, may have moved the end since the store was
    /// read. A running task is overdue if its session's time-out became shorter.
    func endOverdue(_ overdue: [StoredTask]) {
        for task in overdue where tasks.deadlines.isOverdue(task) {
            if let runner = base.transfers[task.id] {
                queue(runner.expire())
            } else {
                tasks.scheduler.drop(task.id)
                run(task, holdsSlot: false, onlyEnds: true)
            }
        }
    }
}
