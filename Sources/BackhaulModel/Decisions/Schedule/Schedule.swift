/// Decides which task (download or upload) starts next, without I/O. A *slot* is the right of a task to run. Limits on
/// slots apply to each lane (all tasks of a session for one origin), to each session and to the engine. The schedule
/// knows only the tasks that were loaded from the store; more tasks may wait in the store.
///
/// Sessions get slots in rotation, and so do the lanes within a session. After a session or lane has got a slot, it
/// goes to the end of the rotation. A session or lane whose tasks cannot start now keeps its position. So no task waits
/// for ever, and a session with a thousand origins does not displace a session with a single origin. Urgent tasks
/// (`BH_PRIORITY_NOW`) start before all other tasks, and ignore the limits of their session. The limits of the engine
/// apply to urgent tasks, too. If these limits are reached, running tasks are preempted: they stop, so that the urgent
/// tasks can run.
public struct Schedule<
    Lane: Hashable & Sendable, Session: Hashable & Sendable, Task: Hashable & Comparable & Sendable
>: Sendable {
    public struct Limits: Sendable {
        /// The most tasks that may run in one lane over HTTP/1.1, where each task has its own connection. Over HTTP/2,
        /// at least `streamLimit` tasks may run.
        public var perLane: Int
        public var perSession: Int
        public init(perLane: Int, perSession: Int) {
            self.perLane = perLane
            self.perSession = perSession
        }
    }

    /// The limits for all sessions together.
    public struct EngineLimits: Sendable {
        public var running: Int
        /// The most connections. Over HTTP/2 the tasks of a lane share one connection.
        public var connections: Int
        /// The most connections of all sessions to one origin. If it is nil, only the limit of each session applies.
        public var connectionsPerOrigin: Int?
        public init(running: Int = 256, connections: Int = 256, connectionsPerOrigin: Int? = nil) {
            self.running = running
            self.connections = connections
            self.connectionsPerOrigin = connectionsPerOrigin
        }
    }

    struct LaneState {
        let session: Session
        let origin: Origin?
        /// The ready tasks that are urgent. They start before the other ready tasks.
        var urgent: Set<Task> = []
        /// For how many of the urgent tasks `Schedule.next()` has returned the step `preempt`.
        var requestedPreemptions = 0
        var ready: [Task] = []
        var next = 0
        var running = 0
        /// The connections that running tasks have in addition to their first ones.
        var extraConnections = 0
        var isLoading = false
        /// Whether tasks were added while the lane's tasks were being loaded from the store. Then the result of this
        /// load may lack the added tasks.
        var isLoadStale = false
        /// The highest priority of the tasks that were added during the present load. The tasks of a lower priority in
        /// the result of the load are dropped, because the added tasks start before them.
        var addedPriority = Int32.min
        var mayHaveMore = true
        /// Whether the lane is in `changedLanes`.
        var hasChanged = false
        var isMultiplexed = false
        var runsOneTask = false
        var isHeld = false
        /// The number of tasks that were started while the lane ran one task at a time, and that still wait for the
        /// server's response.
        var runningAlone = 0

        var readyCount: Int { ready.count - next }
        /// Whether the lane has no tasks, and none may be in the store.
        var isIdle: Bool { readyCount == 0 && requests == 0 && runningAlone == 0 && !mayHaveMore && !isLoading }
        var allowsTask: Bool { !isHeld && (!runsOneTask || runningAlone == 0) }
        /// The requests that may be under way at the same time.
        var requests: Int { running + extraConnections }
        var connections: Int { isMultiplexed ? min(1, requests) : requests }
        /// The tasks that have started since the lane last had no request under way.
        var sharedStarts = 0
        /// Whether the lane's next task shares the connection of running tasks.
        var sharesConnection: Bool { isMultiplexed && requests > 0 }
        var first: Task? { next < ready.count ? ready[next] : nil }
        var isUrgent: Bool { first.map(urgent.contains) ?? false }

        /// Removes and returns the ready tasks.
        mutating func takeReady() -> [Task] {
            defer {
                ready = []
                next = 0
                urgent = []
                requestedPreemptions = 0
            }
            return Array(ready[next...])
        }
    }

    struct SessionState {
        /// Nil before the limits are set, and after the session was forgotten. While the limits are nil, no task of the
        /// session starts.
        var limits: Limits?
        var running = 0
        /// The session's lanes, in the order in which they get slots.
        var lanes: [Lane] = []
    }

    public var engineLimits: EngineLimits
    /// How many streams one HTTP/2 connection is assumed to have. RFC 9113, section 6.5.2, recommends that a server
    /// allows at least 100.
    public let streamLimit: Int
    /// How many tasks of a lane one load requests, unless there are very few or very many lanes.
    public let readyTarget: Int
    /// Divided by the number of lanes. If the result is greater than `readyTarget`, a load requests this many tasks. So
    /// the next load ends before a fast lane has started all of its loaded tasks.
    public let readyTargetOfAllLanes: Int
    /// Divided by the number of lanes. If the result is less than `readyTarget`, a load requests only this many tasks,
    /// but at least `smallestTarget`. So many lanes do not fill the memory with tasks that run much later.
    static var readyLimitOfAllLanes: Int { 16_384 }
    static var smallestTarget: Int { 8 }
    /// How many tasks may run at the origins with a limit (`OriginDelays`). No task starts at an origin with 0.
    public var originWidths: [Origin: Int] = [:]
    public internal(set) var running = 0
    var connections = 0
    /// The number of connections to each origin. A lane over HTTP/2 has at most one connection.
    var connectionsTo: [Origin: Int] = [:]
    /// The number of requests that are under way to each origin.
    var requestsTo: [Origin: Int] = [:]
    var lanes: [Lane: LaneState] = [:]
    var sessions: [Session: SessionState] = [:]
    /// The lanes that may need a load or may be idle, because they have changed. Without this list, each search for a
    /// load would read all lanes.
    var changedLanes: [Lane] = []
    /// The index of the first lane in `changedLanes` that was not checked for a load.
    var nextChanged = 0
    /// Lanes with urgent tasks. The set may also have lanes whose urgent tasks have all started.
    var urgentLanes: Set<Lane> = []
    /// The sessions with lanes, in the order in which they get slots.
    var sessionQueue: [Session] = []

    public init(
        engineLimits: EngineLimits = EngineLimits(), streamLimit: Int = 100, readyTarget: Int = 128,
        readyTargetOfAllLanes: Int = 0
    ) {
        self.engineLimits = engineLimits
        self.streamLimit = streamLimit
        self.readyTarget = max(1, readyTarget)
        self.readyTargetOfAllLanes = readyTargetOfAllLanes
    }

    /// Whether tasks of this lane run, are ready, or may be in the store.
    public func knows(_ lane: Lane) -> Bool { lanes[lane] != nil }

    public mutating func setLimits(_ limits: Limits, of session: Session) {
        sessions[session, default: SessionState()].limits = limits
    }

    /// Forgets the session. Its running tasks count until they are released; its loaded tasks never start.
    public mutating func forget(session: Session) {
        guard let state = sessions[session] else { return }
        sessions[session]?.limits = nil
        for lane in state.lanes {
            _ = lanes[lane]?.takeReady()
            lanes[lane]?.mayHaveMore = false
            lanes[lane]?.isLoading = false
        }
        removeIdle(among: state.lanes)
        removeIfForgotten(session)
    }

    /// The loaded tasks of the lane, in the order in which they start.
    public func ready(in lane: Lane) -> ArraySlice<Task> { lanes[lane].map { $0.ready[$0.next...] } ?? [] }

    /// Notes that tasks of this lane wait in the store. `priority`: the highest priority of these tasks, if it is
    /// known. `reload`: whether some of these tasks must start before the loaded tasks. If so, the loaded tasks are
    /// dropped and returned.
    @discardableResult
    public mutating func add(
        _ lane: Lane, of session: Session, to origin: Origin? = nil, reload: Bool, priority: Int32 = .min
    ) -> [Task] {
        register(lane, of: session, to: origin)
        guard var state = lanes[lane] else { return [] }
        state.mayHaveMore = true
        state.isLoadStale = state.isLoading
        state.addedPriority = state.isLoading ? max(state.addedPriority, reload ? .max : priority) : .min
        let dropped = reload ? state.takeReady() : []
        lanes[lane] = state
        noteChange(of: lane)
        return dropped
    }

    /// Takes the result of a load. `isAll`: whether the store has no more tasks of the lane. `urgent`: the urgent tasks
    /// among `tasks`. `priority`: the priorities of the loaded tasks; nil if all are 0. Returns the tasks that are
    /// dropped because other tasks start before them.
    @discardableResult
    public mutating func loaded(
        _ lane: Lane, _ tasks: [Task], urgent: Set<Task> = [], isAll: Bool, priority: ((Task) -> Int32)? = nil
    ) -> [Task] {
        guard var state = lanes[lane], state.isLoading else { return tasks }
        state.isLoading = false
        let kept = tasks.prefix { (priority?($0) ?? 0) >= state.addedPriority }
        state.addedPriority = .min
        // An empty result counts as the last result. Otherwise a wrong `isAll` would cause loads without end.
        if isAll || tasks.isEmpty, !state.isLoadStale { state.mayHaveMore = false }
        state.isLoadStale = false
        let remaining = state.ready[state.next...]
        state.ready = Array(remaining) + kept
        state.next = 0
        // A task that became ready again may be older than the remaining tasks.
        if let priority, let last = remaining.last, let first = kept.first,
            (priority(last), first) < (priority(first), last)
        {
            state.ready.sort { (priority($1), $0) < (priority($0), $1) }
        }
        state.urgent.formUnion(urgent.intersection(kept))
        if !state.urgent.isEmpty { urgentLanes.insert(lane) }
        lanes[lane] = state
        noteChange(of: lane)
        return Array(tasks[kept.endIndex...])
    }

    /// Removes a loaded task that must not start any more.
    public mutating func drop(_ task: Task, in lane: Lane) {
        guard var state = lanes[lane], let index = state.ready[state.next...].lastIndex(of: task) else { return }
        state.ready.remove(at: index)
        state.urgent.remove(task)
        // This count must not exceed the number of urgent tasks. Otherwise, the lane's next urgent task would preempt
        // no task.
        state.requestedPreemptions = min(state.requestedPreemptions, state.urgent.count)
        lanes[lane] = state
        noteChange(of: lane)
    }

    /// Notes whether the origin uses HTTP/2. Over HTTP/2, the tasks of the lane share a connection. Returns false if
    /// this was known.
    @discardableResult
    public mutating func setMultiplexed(_ lane: Lane, _ isMultiplexed: Bool = true) -> Bool {
        guard let state = lanes[lane], state.isMultiplexed != isMultiplexed else { return false }
        change(lane) { $0.isMultiplexed = isMultiplexed }
        return true
    }

    /// Sets whether the lane runs only one task at a time. If a server has refused one task, it might refuse many tasks
    /// for the same reason.
    public mutating func setRunsOneTask(_ lane: Lane, _ runsOneTask: Bool) { lanes[lane]?.runsOneTask = runsOneTask }

    /// Sets whether the lane is held because of a condition, such as missing power. No task of a held lane starts.
    public mutating func setHeld(_ lane: Lane, _ isHeld: Bool) { lanes[lane]?.isHeld = isHeld }

    public func runsOneTask(_ lane: Lane) -> Bool { lanes[lane]?.runsOneTask ?? false }

    /// Notes that the server has responded to a task that was started while the lane ran one task at a time.
    public mutating func endedRunningAlone(_ lane: Lane) {
        guard let state = lanes[lane], state.runningAlone > 0 else { return }
        change(lane) { $0.runningAlone -= 1 }
        removeIfForgotten(state.session)
    }

    /// Releases the slot of a started task.
    @specialized(where Lane == LaneID, Session == SessionID, Task == TaskID)
    public mutating func released(_ lane: Lane) {
        guard let state = lanes[lane], state.running > 0 else { return }
        running -= 1
        change(lane) { $0.running -= 1 }
        sessions[state.session]?.running -= 1
        removeIfForgotten(state.session)
    }
}
