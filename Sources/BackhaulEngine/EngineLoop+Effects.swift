internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The only place that applies effects. `LoopRuntime` calls `apply` between the call-backs of the loop, when no method
/// of a part runs.
extension EngineLoop {
    /// Runs a call-back of the loop, and then applies the effects in the queue.
    func run(_ body: (EngineLoop) -> Void) {
        runtime.run {
            body(self)
            return []
        }
    }

    /// Adds effects to the queue. They are applied after the present effect, and after the effects before them.
    func queue(_ effects: [EngineEffect]) { runtime.add(effects) }

    func apply(_ effect: EngineEffect) {
        switch effect {
        case .attempt(let attempt, let effect): apply(effect, of: attempt)
        case .fail(let failure): fail(failure)
        case .end(let reason): lifecycle.requestStop(reason)
        case .drainingBegan:
            tasks.endings.flush()
            finishDrainingIfDone()
        case .mayBeIdle: housekeeping.idle.mayBeIdle()
        case .workDone: housekeeping.idle.noteWork()
        case .releaseMemory: releaseMemory()
        case .exitIfUnconnected: exitIfUnconnected()
        case .storeDirectoryChanged: receiver.scheduleListenerRepair()
        case .retryLater(let work): housekeeping.storeRetryQueue.add(work)
        case .announce(let change): announce(change)
        case .eventFor(let id): if let client = clients.registry[id] { hosts.launches.eventArrived(for: client) }
        case .checkLaunches(let application): hosts.launches.checkLaunches(of: application)
        case .launched(let result): base.counters.launched(result)
        case .disconnected(let id): receiver.closed(id)
        case .opened(let session, let opening, let consumer):
            opened(session, opening, consumer)
            if clients.registry[opening.address.connection] == nil { clients.claims.released(opening.name) }
        case .ended(let endings, let change): ended(endings, change)
        case .notEnded(let ending, let failure): base.transfers.notEnded(ending, failure)
        case .schedule: tasks.scheduler.plan()
        case .startReadyTasks: startReadyTasks()
        case .startNext: startNext()
        case .start(let task, let runsAlone): start(task, runsAlone: runsAlone)
        case .load(let lane, let limit): startParts.loader.load(lane, limit: limit)
        case .preempt(let origin, let spares): queue(base.transfers.preempt(at: origin, sparesTasks: spares))
        case .releaseDue: tasks.scheduler.releaseDue()
        case .checkCalendar: base.calendar.check()
        case .reloadLater(let lanes): tasks.scheduler.reloadLater(lanes)
        case .forgetLanes: tasks.scheduler.forgetLanes(except: conditions.holds.lanesInUse.union(base.transfers.lanes))
        case .retryRoutes(let lanes): queue(tasks.reachability.retryNow(lanes))
        case .holdChanged(let lanes): tasks.scheduler.holdChanged(of: lanes)
        case .originsChanged: originsChanged()
        case .endWaits(let lanes): endWaits(lanes, since: runtime.clocks.wallMilliseconds)
        case .routeNotNeeded(let lanes, let time): routeNotNeeded(lanes, since: time)
        case .metered(let networks): conditionParts.monitor.setMetered(networks)
        case .activitiesNeed(let needs): conditions.activityNeeds = needs
        case .credentialsChanged(let session): tasks.scheduler.credentialsChanged(of: session)
        case .parkReadyTasks(let session): parkReadyTasks(of: session)
        case .tasksWait(let lanes, let reload, let priority):
            tasks.scheduler.tasksWait(in: lanes, reload: reload, priority: priority)
        case .due(let time): tasks.scheduler.due(at: time)
        case .hold(let action): apply(action)
        case .waitBegan(let subject, let scopes, let hold): base.journal.begin(subject, scopes, hold)
        case .waitEnded(let subject, let time): base.journal.end(subject, at: time)
        case .tasksHeld(let session): tasks.deadlines.tasksHeld(of: session)
        case .startProbe(let task, let key, let kind):
            if !startProbe(task, key, kind) { queue(startParts.loader.probeNotStarted(key, kind)) }
        case .finish(let tasks): finish(tasks)
        case .endOverdue(let tasks): endOverdue(tasks)
        case .restated(let moved): restated(moved)
        case .conditionsChanged: queue(conditions.conditionsChanged())
        case .conditionsDecided: conditionsDecided()
        case .readyToSleep: conditionParts.monitor.readyToSleep()
        case .reconsider: conditions.scheduleReconsideration()
        case .prune: conditions.schedulePruning()
        case .scheduleCheck: conditions.scheduleCheck()
        case .reevaluateDelayed: conditionParts.budgetDelays.reevaluateDelayed()
        case .clockWasSet: queue(conditions.clockWasSet())
        case .checkDeadlines: checkDeadlines()
        case .latestStart(let time): queue(tasks.deadlines.latestStart(at: time))
        case .calendarStepped(let step): calendarStepped(by: step)
        case .tick: tick()
        case .resume(let ids): base.transfers.resume(ids)
        }
    }

    private func releaseMemory() {
        services.store.releaseMemory { [mailbox = services.mailbox] in
            mailbox.post { _ in ProcessMemory.trim() }
        }
    }

    private func parkReadyTasks(of session: SessionID) {
        let ready = tasks.scheduler.ready.values.filter { $0.session == session }.sorted { $0.id < $1.id }
        let (startable, effects) = base.credentials.admit(ready)
        let kept = Set(startable.map(\.id))
        for task in ready where !kept.contains(task.id) { tasks.scheduler.drop(task.id) }
        queue(effects)
    }

    // MARK: Holds

    /// Applies a decision about held tasks.
    private func apply(_ action: HoldAction) {
        switch action {
        case .unload(let held): unload(held)
        case .stop(let held, let reason, let sparesProbe):
            unload(held)
            if case .constraintGroup(let group) = held { tasks.deadlines.tasksHeld(of: group.session) }
            for task in base.transfers.tasks(where: { contains(held, $0) }) {
                if sparesProbe, conditions.holds.isProbe(task.id) { continue }
                deferRunning(task, for: reason)
            }
        case .load(let lanes): tasks.scheduler.tasksWait(in: lanes, reload: true)
        case .beginWait(let held, let hold, let isRecorded):
            base.journal.begin(.hold(held), isRecorded ? held.waitScopes(hold.reason, tasks.scheduler) : [], hold)
        case .endWait(let held): base.journal.end(.hold(held))
        case .loadProbe(let key, let kind): startParts.loader.loadProbe(key, kind)
        }
    }

    private func contains(_ held: HeldTasks, _ task: StoredTask) -> Bool {
        held.contains(LaneGroup(of: task), in: conditions.group(of: task))
    }

    private func unload(_ held: HeldTasks) {
        for task in tasks.scheduler.drop(where: { contains(held, $0) }) { conditions.returnedToStore(task) }
    }

    private func conditionsDecided() {
        queue(housekeeping.sleep.consider())
        hosts.activities.conditionsChanged()
        housekeeping.abandonedUploads.conditionsChanged()
        queue(conditionParts.budgets.decided(hasTasksWithinBudgets: conditions.holds.hasTasksWithinBudgets))
    }

    private func deferRunning(_ task: StoredTask, for reason: WaitReason) {
        conditions.returnedToStore(task)
        queue(base.transfers.hold(task.id, for: reason))
    }

    /// Gives these tasks their new constraints. If a running task now belongs to a held group, the task stops.
    private func restated(_ moved: RestatedTasks) {
        conditions.add(moved.constraints.values)
        for (id, constraints) in moved.tasks { tasks.scheduler.changeReady(id) { $0.constraints = constraints } }
        for task in base.transfers.setConstraints(moved.tasks) {
            queue(conditions.note(conditions.group(of: task)))
            if let hold = conditions.hold(of: task) { deferRunning(task, for: hold.reason) }
        }
        conditions.scheduleReconsideration()
        conditions.schedulePruning()
    }

    private func calendarStepped(by step: Int64) {
        tasks.scheduler.calendarStepped(by: step)
        queue(tasks.deadlines.calendarStepped(by: step))
        hosts.activities.check()
        // Earliest starts are times of the wall clock. So after the clock was set, tasks may be due.
        if step != 0 { tasks.scheduler.releaseDue() }
    }

    // MARK: Changed rows

    /// Passes changes of rows to running tasks, and notifies clients of the application about new events.
    /// - state: the state of the changed tasks if they have ended.
    func apply(_ change: Change, tasksEndedOrStopped: RunnerEvent? = nil, as state: TaskState = .cancelled) {
        if let event = tasksEndedOrStopped {
            tasksStopped(change.lanes)
            for id in change.tasks {
                forgetRepeats(of: id)
                endDelay(of: id)
                if let effects = base.transfers.stop(id, event) { queue(effects) } else { tasks.scheduler.drop(id) }
            }
        }
        if tasksEndedOrStopped == .cancel {
            base.counters.tasksEnded(change.tasks.count, as: state)
            housekeeping.leftovers.sweep()
            housekeeping.requestBodies.sweep()
        }
        queue(base.credentials.closed(change.closedChallenges, of: change.session))
        tasks.scheduler.tasksWait(in: change.lanes, reload: false, priority: change.priority)
        announce(change)
        if change.sessionRemoved { removed(change) }
    }

    /// Forgets a session that was removed. If a client waits for the right to read the session's events, the engine
    /// tries again to open a session of this name for the client.
    func removed(_ change: Change) {
        forget(change.session)
        clients.end(change.session)
        housekeeping.leftovers.sweep()
        clients.claims.released(NamedSession(change))
    }

    /// Ends the wait records of the task's delay, because the task runs, or the host has changed it.
    func endDelay(of task: TaskID) {
        queue(conditionParts.budgetDelays.endDelay(of: task))
        base.journal.end(.redirect(task))
    }

    /// Passes the ended tasks to the activities. If a session needs its program, checks whether the program must be
    /// launched. Notifies clients of the application about new events.
    func announce(_ change: Change) {
        hosts.activities.tasksEnded(change.tasks)
        if change.abandonsUploads { housekeeping.abandonedUploads.remove() }
        for state in change.endedDependents { base.counters.tasksEnded(1, as: state) }
        tasks.scheduler.tasksWait(in: change.released, reload: false, priority: change.priority)
        if change.withdrawsEnd { queue(clients.events.endWithdrawn(in: change.session)) }
        guard change.newestEvent > .zero else { return }
        if change.needsHost { hosts.launches.check(at: change.application) }
        clients.events.announce(change)
    }

    /// Handles ends of tasks after the store has committed these ends.
    func ended(_ endings: [Ending], _ change: Change?) {
        let recorded = Set(change?.tasks ?? [])
        for ending in endings {
            if recorded.contains(ending.end.task) { base.counters.tasksEnded(1, as: ending.end.outcome.state) }
            queue(base.transfers.ended(ending))
            forgetRepeats(of: ending.end.task)
        }
        guard let change else { return }
        if change.hasLeftoverBodies { housekeeping.requestBodies.sweep() }
        queue(base.credentials.closed(change.closedChallenges, of: change.session))
        announce(change)
    }

    /// Handles ends and stops of tasks in these lanes.
    func tasksStopped(_ lanes: Set<LaneID>) {
        tasks.reachability.tasksStopped(lanes)
    }

    /// Releases these lanes if no task of them runs, because no task waits for a route any more.
    private func routeNotNeeded(_ lanes: Set<LaneID>, since time: Int64) {
        let free = lanes.filter { !base.transfers.isRunning(in: $0) }
        queue(tasks.reachability.retryNow(free))
        endWaits(free, since: time)
        tasks.scheduler.plan()
    }

    private func checkDeadlines() {
        tasks.deadlines.check()
        conditions.scheduleCheck()
    }

    private func originsChanged() {
        tasks.origins.noteChange()
        tasks.scheduler.plan()
    }

    /// Passes the new widths of origins to the scheduler. This searches all lanes and ready tasks, so it is called only
    /// one time in each iteration of the loop, before tasks start.
    func updateOriginWidths() {
        tasks.origins.startTimer()
        tasks.scheduler.setOriginWidths(tasks.origins.widths(running: base.transfers.starts))
        let paused = tasks.scheduler.pausedLanes
        tasks.deadlines.tasksArePaused(in: paused)
        let waiting = Set(tasks.scheduler.ready.values.map(\.lane))
        queue(tasks.origins.recordWaits(of: paused.filter { waiting.contains($0.id) }))
    }

    /// Ends the wait records of the lanes in which no task runs or is ready.
    private func endWaits(_ lanes: Set<LaneID>, since time: Int64) {
        let idle = lanes.filter { !base.transfers.isRunning(in: $0) && !tasks.scheduler.hasReadyTask(in: $0) }
        queue(tasks.reachability.endWaits(Array(idle), since: time))
    }

    /// Forgets how often the task's request was repeated: with credentials, without a delay, or without a response.
    /// It is called when the task has ended, or when the host has changed the task.
    func forgetRepeats(of task: TaskID) {
        base.credentials.forgetRepeats(of: task)
        base.transfers.setRepeats(RepeatCounts(), of: task)
    }

    // MARK: Sessions

    /// Adds the handle (the client's reference to the opened session) to the client's connection, and sends the reply.
    func opened(_ opened: OpenedSession, _ opening: SessionOpening, _ consumer: ConsumerIdentity) {
        if let application = opened.launchedApplication { hosts.launches.attached(application, consumer) }
        remember(opened.configuration, of: opened.id)
        let address = opening.address
        guard let connection = clients.registry[address.connection] else { return }
        let pushCredit = PushCredit(newest: opened.newestEvent)
        connection.attach(
            address.handle,
            .init(
                session: opened.id, identifier: opening.name.identifier, role: opening.role, pushCredit: pushCredit))
        if opening.role == .consume { clients.registry.setConsumer(of: opened.id, address) }
        connection.reply(
            opening.sequence,
            .session(
                opened.id, isNew: opened.isNew, newestEvent: opened.newestEvent,
                unacknowledged: opened.unacknowledged))
        if opening.role == .consume { clients.claims.requestYield(opening.name) }
    }

    /// Applies the configuration of a session, if it is new.
    func remember(_ configuration: SessionConfiguration, of session: SessionID) {
        guard base.sessions.set(configuration, of: session) else { return }
        base.cookies.configure(configuration.cookies, of: session)
        tasks.scheduler.setLimits(of: session, configuration)
        setRate(configuration.bytesPerSecond, of: .session(session))
        conditions.configurationChanged(of: session)
        // Tasks of the session may wait for a budget or for their earliest start, since an earlier engine or with
        // another time-out.
        tasks.deadlines.tasksHeld(of: session)
        conditionParts.budgets.tasksChanged()
        conditionParts.budgetDelays.reevaluateDelayed()
    }

    func forget(_ session: SessionID) {
        base.sessions.forget(session)
        setRate(nil, of: .session(session))
        base.credentials.forget(session)
        base.cookies.forget(session)
        tasks.scheduler.forget(session)
        tasks.deadlines.forget(session)
        queue(conditions.forget(session))
    }

    /// Sets new limits, which apply immediately.
    func limits(_ limits: EngineLimits) {
        tasks.scheduler.setLimits(limits)
        base.transport.maximumConnections = Int(limits.maximumConnections)
        setRate(limits.bytesPerSecond, of: .engine)
        tasks.scheduler.plan()
    }

    /// Sets a rate limit. HTTP/2 tasks with a limit then use separate connections. Otherwise, a paused task would block
    /// the other tasks of its connection.
    func setRate(_ bytesPerSecond: UInt64?, of level: RateLimiter.Level) {
        base.rates.setRate(bytesPerSecond, of: level)
        guard bytesPerSecond != nil else { return }
        switch level {
        case .engine: for lane in tasks.scheduler.lanes.keys { tasks.scheduler.needsSeparateConnections(lane) }
        case .session(let session):
            for lane in tasks.scheduler.lanes(of: session) { tasks.scheduler.needsSeparateConnections(lane.id) }
        case .task(let task):
            if let runner = base.transfers[task] {
                tasks.scheduler.needsSeparateConnections(runner.attempt.task.lane)
            }
        }
    }

    func setRate(_ bytesPerSecond: UInt64?, ofTasks ids: [TaskID]) {
        let change = { (task: inout StoredTask) in task.request.options.policy.bytesPerSecond = bytesPerSecond }
        for id in ids { tasks.scheduler.changeReady(id, change) }
        for id in base.transfers.change(ids, change) { base.rates.setRate(bytesPerSecond, of: .task(id)) }
    }

    // MARK: End

    /// Ends a daemon at the request of a newer library, which takes over the store.
    func handOver(to library: Versions, _ connection: ClientConnection) {
        guard VersionNegotiation.mustExit(services.welcome, requestedBy: library) else {
            connection.deliver(.goodbye(Failure(.wrongState, "this engine is not replaced by that library version")))
            return
        }
        lifecycle.requestStop(.replaced(by: library))
    }

    /// Ends the daemon if no client is connected now. The daemon still has the store lock. A client that connects later
    /// finds no socket, or its connection ends without a reply. This client then waits for the lock, and starts the
    /// next daemon.
    func exitIfUnconnected() {
        receiver.acceptAll()
        guard clients.registry.connections.isEmpty else { return }
        receiver.close()
        lifecycle.requestStop(.idleExit)
    }

    /// Gives a new part file to each task whose part file is used by a hanging disk call. A hanging call may still
    /// change the old part file long after the engine has ended.
    func renewParts(named names: Set<String>, then: @escaping @Sendable () -> Void) {
        let changing = base.transfers.tasks { names.contains(base.files.location(of: $0).partName) }
        runtime.store(
            { (transaction) throws(Failure) in
                for task in changing { try transaction.attempts.renewPart(of: task.id) }
            },
            then: { _ in
                then()
                return []
            })
    }

    // MARK: Listing

    /// Reads all present conditions for a listing, including conditions that the engine does not need now.
    func readConditions(then: @escaping ([ConditionInfo]) -> Void) {
        conditionParts.monitor.readAll { [unowned self] conditions in
            let moved = base.transfers.bytesPerSecond
            let infos = ConditionDescriptions.infos(
                conditions, bytesPerSecond: base.transfers.isEmpty ? nil : moved, since: conditionParts.monitor.since,
                now: runtime.clocks.wallMilliseconds)
            then(infos)
        }
    }

    var explainer: WaitExplainer {
        WaitExplainer(
            lanes: tasks.scheduler.lanes, holds: conditions.holds, journal: base.journal,
            budgetDelays: conditionParts.budgetDelays, reachability: tasks.reachability,
            origins: tasks.origins, clocks: runtime.clocks)
    }
}
