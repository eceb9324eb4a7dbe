internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Gives slots to tasks, within the limits. It also releases delayed tasks when they are due.
///
/// Each engine has one object of this type. It has the lanes, and the ready tasks of each lane.
final class TaskScheduler {
    /// If there are more lanes than this, unused lanes are forgotten.
    private static let laneCacheSize = 256
    private static let retryMilliseconds: Int64 = 1_000

    private let runtime: any Runtime
    private let credentials: CredentialController
    private let reachability: ReachabilityController
    private var schedule = Schedule<LaneID, SessionID, TaskID>(readyTargetOfAllLanes: 512)
    /// Loaded tasks that wait for a slot.
    private(set) var ready: [TaskID: StoredTask] = [:]
    private(set) var lanes: [LaneID: Lane] = [:]
    private var laneLimit = laneCacheSize
    /// The attempts that can use one more connection, in the order in which they get it.
    private var connectionRequests: [RunningAttempt] = []
    /// Lanes whose tasks the store could not read or change. They are loaded again later.
    private var lanesToReload: Set<LaneID> = []
    /// Sessions in which tasks for paused origins began to wait. Their resource time-outs are read at the end of this
    /// iteration of the loop.
    private var pausedSessions: Set<SessionID> = []
    private var isPlanned = false
    private var dueTimer: (any RuntimeTimer)?
    private var nextDue: Int64?

    init(_ runtime: any Runtime, _ credentials: CredentialController, _ reachability: ReachabilityController) {
        self.runtime = runtime
        self.credentials = credentials
        self.reachability = reachability
        dueTimer = runtime.timer { [.checkCalendar, .releaseDue] }
    }

    func close() { dueTimer?.stop() }

    // MARK: Lanes

    func networkScope(of task: StoredTask) -> NetworkScope { networkScope(of: task.lane, task.origin) }

    func networkScope(of lane: LaneID, _ origin: Origin) -> NetworkScope {
        lanes[lane]?.networkScope ?? NetworkScope(origin)
    }

    func lanes(of session: SessionID) -> [Lane] {
        lanes.values.filter { $0.session == session }.sorted { $0.id < $1.id }
    }

    /// Adds a lane in which tasks wait. `reload`: whether the loaded tasks of the lane may be in the wrong order.
    /// `priority`: the highest priority of the added tasks, if it is known. Loaded tasks of a lower priority are
    /// dropped, and loaded again after the added tasks.
    func add(_ lane: Lane, reload: Bool, priority: Int32 = .min) {
        lanes[lane.id] = lane
        for id in schedule.ready(in: lane.id).reversed() {
            guard let task = ready[id], task.request.priority < priority else { break }
            drop(id)
        }
        let dropped = schedule.add(
            lane.id, of: lane.session, to: lane.origin, reload: reload, priority: priority)
        for task in dropped { ready[task] = nil }
        schedule.setRunsOneTask(lane.id, credentials.runsOneTask(lane))
        schedule.setHeld(lane.id, reachability.isHeld(lane.id))
    }

    /// Forgets unused lanes. If a forgotten lane is needed later, it is read again. `used`: the lanes that other parts
    /// use.
    func forgetLanes(except used: Set<LaneID>) {
        var used = used.union(reachability.heldLanes)
        for task in ready.values { used.insert(task.lane) }
        lanes = lanes.filter { used.contains($0.key) || schedule.knows($0.key) }
        laneLimit = max(Self.laneCacheSize, 2 * lanes.count)
    }

    /// Adds lanes in which tasks wait now, as `add` does. Unknown lanes are read from the store.
    func tasksWait(in ids: Set<LaneID>, reload: Bool, priority: Int32 = .min) {
        guard !ids.isEmpty else { return }
        let ids = ids.sorted()
        let unknown = ids.filter { lanes[$0] == nil }
        for lane in ids.compactMap({ lanes[$0] }) {
            add(lane, reload: reload, priority: priority)
            if isPaused(lane) { pausedSessions.insert(lane.session) }
        }
        if !unknown.isEmpty {
            runtime.storeWithRetry(
                { (transaction) throws(Failure) in
                    var found: [Lane] = []
                    for id in unknown { if let lane = try transaction.lanes.find(id) { found.append(lane) } }
                    return found
                },
                then: { [unowned self] found in
                    for lane in found { add(lane, reload: false) }
                    plan()
                    return []
                })
        }
        plan()
    }

    /// After credentials changed, updates which lanes of the session may run only one task at a time.
    func credentialsChanged(of session: SessionID) {
        for lane in lanes(of: session) { schedule.setRunsOneTask(lane.id, credentials.runsOneTask(lane)) }
    }

    func holdChanged(of lanes: Set<LaneID>) {
        for lane in lanes.sorted() { schedule.setHeld(lane, reachability.isHeld(lane)) }
    }

    /// Notes whether the origin of the lane uses HTTP/2. If so, more tasks of the lane may run over one connection.
    func setMultiplexed(_ lane: LaneID, _ isMultiplexed: Bool) {
        if schedule.setMultiplexed(lane, isMultiplexed) { plan() }
    }

    /// Notes that the lane's tasks need separate connections, because the tasks have a rate limit.
    func needsSeparateConnections(_ lane: LaneID) { schedule.setMultiplexed(lane, false) }

    func runsOneTask(_ lane: LaneID) -> Bool { schedule.runsOneTask(lane) }

    // MARK: Limits

    func setLimits(_ limits: EngineLimits) {
        schedule.engineLimits = .init(
            running: Int(limits.maximumRunningTasks), connections: Int(limits.maximumConnections),
            connectionsPerOrigin: limits.connectionsPerOrigin.map { Int($0) })
        plan()
    }

    func setLimits(of session: SessionID, _ configuration: SessionConfiguration) {
        schedule.setLimits(
            .init(
                perLane: Int(configuration.connectionsPerOrigin), perSession: Int(configuration.maximumRunningTasks)),
            of: session)
    }

    func forget(_ session: SessionID) { schedule.forget(session: session) }

    /// Sets how many tasks may run at the origins that have asked for a pause. The caller starts tasks afterwards.
    func setOriginWidths(_ widths: [Origin: Int]) { schedule.originWidths = widths }

    var limitsOrigins: Bool { !schedule.originWidths.isEmpty }

    /// The lanes of the origins at which no task may start now.
    var pausedLanes: [Lane] {
        limitsOrigins ? lanes.values.filter(isPaused).sorted { $0.id < $1.id } : []
    }

    private func isPaused(_ lane: Lane) -> Bool { schedule.originWidths[lane.origin] == 0 }

    // MARK: Ready tasks

    func changeReady(_ id: TaskID, _ change: (inout StoredTask) -> Void) {
        if ready[id] != nil { change(&ready[id]!) }
    }

    func readyTasks(in lane: LaneID) -> ArraySlice<TaskID> { schedule.ready(in: lane) }

    func hasReadyTask(in lane: LaneID) -> Bool { !readyTasks(in: lane).isEmpty }

    /// Removes a ready task, because it has ended, runs, or waits in the store again.
    @discardableResult
    func drop(_ id: TaskID) -> StoredTask? {
        guard let task = ready.removeValue(forKey: id) else { return nil }
        schedule.drop(id, in: task.lane)
        return task
    }

    func drop(where isMeant: (StoredTask) -> Bool) -> [StoredTask] {
        let dropped = ready.values.filter(isMeant).sorted { $0.id < $1.id }
        for task in dropped { drop(task.id) }
        return dropped
    }

    func calendarStepped(by step: Int64) {
        for id in ready.keys { ready[id]?.enqueuedMilliseconds += step }
    }

    // MARK: Slots

    /// At the end of this iteration of the loop, starts the tasks that may start.
    func plan() {
        guard !isPlanned else { return }
        isPlanned = true
        runtime.afterThisIteration { [unowned self] in
            isPlanned = false
            let held = pausedSessions.sorted().map { EngineEffect.tasksHeld(of: $0) }
            pausedSessions = []
            return held + (lanes.count > laneLimit ? [.forgetLanes, .startReadyTasks] : [.startReadyTasks])
        }
    }

    /// Returns the next action (effect): start a task, load the tasks of a lane, or preempt a task. Returns nil if
    /// there is no such action. The caller performs each action before the next call, because a start may change the
    /// state of the lane.
    func next() -> EngineEffect? {
        while let step = schedule.next() {
            switch step {
            case .start(let id, let lane):
                let runsAlone = schedule.runsOneTask(lane)
                if let task = ready.removeValue(forKey: id) { return .start(task, runsAlone: runsAlone) }
                released(lane, runsAlone: runsAlone)
            case .load(let lane, let limit): return .load(lane, limit: limit)
            case .preempt(let origin): return .preempt(at: origin, sparesTasks: false)
            case .releaseExtraConnection(let origin): return .preempt(at: origin, sparesTasks: true)
            }
        }
        return nextExtraConnection()
    }

    private func nextExtraConnection() -> EngineEffect? {
        guard let index = connectionRequests.firstIndex(where: { schedule.takeExtraConnection($0.task.lane) }) else {
            return nil
        }
        return .attempt(connectionRequests.remove(at: index), .gotConnection)
    }

    /// Gives the attempt one more connection when the limits allow that and no other task waits for it.
    func requestConnection(_ attempt: RunningAttempt) {
        connectionRequests.append(attempt)
        plan()
    }

    func releasedConnection(_ lane: LaneID) {
        schedule.releasedExtraConnection(lane)
        plan()
    }

    /// Notes that the attempt is over.
    func forgetConnectionRequest(of attempt: RunningAttempt) { connectionRequests.removeAll { $0 === attempt } }

    func loaded(_ lane: LaneID, _ tasks: [StoredTask], isAll: Bool) {
        for task in tasks { ready[task.id] = task }
        let urgent = Set(tasks.lazy.filter { $0.request.priority >= Limits.priorityNow }.map(\.id))
        let dropped = schedule.loaded(
            lane, tasks.map(\.id), urgent: urgent, isAll: isAll,
            priority: { [ready] in ready[$0]?.request.priority ?? 0 })
        for id in dropped { ready[id] = nil }
        plan()
    }

    /// Releases the slot of a task.
    func released(_ lane: LaneID, runsAlone: Bool = false) {
        schedule.released(lane)
        if runsAlone { schedule.endedRunningAlone(lane) }
        plan()
    }

    /// Allows the start of the next task in a lane that runs one task at a time, because the server has responded to
    /// the running task, or because the attempt of this task is over.
    func endedRunningAlone(_ lane: LaneID) {
        schedule.endedRunningAlone(lane)
        plan()
    }

    /// Whether the limits permit one more task of the lane to start. The task need not be loaded.
    func hasSlot(_ lane: Lane) -> Bool { schedule.hasFreeSlot(lane.id, of: lane.session, to: lane.origin) }

    /// Takes a slot for one more task of the lane. The task need not be loaded.
    func takeSlot(_ lane: Lane) { schedule.takeSlot(lane.id, of: lane.session, to: lane.origin) }

    // MARK: Delays

    /// Starts the timer for a delayed task that is due at this time of the boot clock.
    func due(at time: Int64?) {
        guard let time else { return }
        if let nextDue, nextDue <= time { return }
        nextDue = time
        dueTimer?.start(milliseconds: max(0, time - runtime.now))
    }

    /// Loads the lanes again after a second, together with due tasks.
    func reloadLater(_ lanes: Set<LaneID>) {
        lanesToReload.formUnion(lanes)
        due(at: runtime.clocks.bootMilliseconds + Self.retryMilliseconds)
    }

    /// Ends the delays of tasks that are due now, and ends the tasks that were set aside for too long.
    func releaseDue() {
        nextDue = nil
        let now = runtime.clocks.bootMilliseconds
        runtime.store(
            { (transaction) throws(Failure) in
                (
                    released: try transaction.delays.releaseDue(bootMilliseconds: now),
                    overdue: try transaction.delays.overdueAside(bootMilliseconds: now),
                    next: try transaction.delays.nextDue()
                )
            },
            then: { [unowned self] result in
                guard case .success(let (released, overdue, next)) = result else {
                    // If the store cannot commit now, the work is tried again after `retryMilliseconds`.
                    due(at: now + Self.retryMilliseconds)
                    return []
                }
                tasksWait(in: released.lanes.union(lanesToReload), reload: false, priority: released.priority)
                lanesToReload = []
                plan()
                due(at: next)
                return [.finish(released.complete), .retryRoutes(released.lanes), .endOverdue(overdue), .mayBeIdle]
            })
    }
}
