/// Which task starts next, as a value: limits per lane (all tasks of a session for one origin), per session and for the
/// engine, and turns. It knows the tasks that were loaded from the store, not all that wait there.
///
/// Sessions take turns, and within a session its lanes: who was served goes to the back, who cannot start for now keeps
/// its place. So nobody waits for ever, and a session with a thousand origins does not crowd out one with a single one.
/// Urgent tasks (`BH_PRIORITY_NOW`) pass by all others and their session's limits; the engine's limits hold for them,
/// too, and whoever runs makes room.
public struct Schedule<Lane: Hashable & Sendable, Session: Hashable & Sendable, Task: Hashable & Sendable>: Sendable {
    public struct Limits: Sendable {
        /// Tasks that may run in one lane: connections, or streams over HTTP/2.
        public var perLane: Int
        public var perSession: Int
        public init(perLane: Int, perSession: Int) {
            self.perLane = perLane
            self.perSession = perSession
        }
    }

    /// What all sessions may use together.
    public struct EngineLimits: Sendable {
        public var running: Int
        /// Over HTTP/2 the tasks of a lane share one.
        public var connections: Int
        /// To one origin, of all sessions; nil: each session's own limit.
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
        /// Of those that are ready, which come before the others.
        var urgent: Set<Task> = []
        /// For how many of them somebody was asked to make room.
        var roomAsked = 0
        var ready: [Task] = []
        var next = 0
        var running = 0
        var isLoading = false
        /// While a load is under way: its answer may not know of tasks that wait since.
        var isAnswerStale = false
        /// The answer is of no use: others go before those that it brings.
        var isAnswerOutdated = false
        var mayHaveMore = true
        var isMultiplexed = false
        var isProbed = false
        var isHeld = false
        /// Started while probed, and not known to be let in.
        var probes = 0

        var readyCount: Int { ready.count - next }
        var mayProbe: Bool { !isHeld && (!isProbed || probes == 0) }
        var connections: Int { isMultiplexed ? min(1, running) : running }
        var first: Task? { next < ready.count ? ready[next] : nil }
        var isUrgent: Bool { first.map(urgent.contains) ?? false }

        /// Gives up those that are ready.
        mutating func takeReady() -> [Task] {
            defer {
                ready = []
                next = 0
                urgent = []
                roomAsked = 0
            }
            return Array(ready[next...])
        }
    }

    struct SessionState {
        /// Nil before they are set, and after the session was forgotten: nothing starts.
        var limits: Limits?
        var running = 0
        /// In turn.
        var lanes: [Lane] = []
    }

    public var engineLimits: EngineLimits
    /// Streams of one HTTP/2 connection: the value that RFC 9113, section 6.5.2, names as the least to offer.
    public let streamLimit: Int
    /// Loaded ahead of their turn.
    public let readyTarget: Int
    public internal(set) var running = 0
    var connections = 0
    /// Of lanes that do not share one.
    var connectionsTo: [Origin: Int] = [:]
    var lanes: [Lane: LaneState] = [:]
    var sessions: [Session: SessionState] = [:]
    /// With urgent tasks; some may have none any more.
    var urgentLanes: Set<Lane> = []
    /// Sessions with lanes, in turn.
    var turns: [Session] = []

    public init(engineLimits: EngineLimits = EngineLimits(), streamLimit: Int = 100, readyTarget: Int = 128) {
        self.engineLimits = engineLimits
        self.streamLimit = streamLimit
        self.readyTarget = max(1, readyTarget)
    }

    /// Whether tasks of this lane run, are ready, or may be in the store.
    public func knows(_ lane: Lane) -> Bool { lanes[lane] != nil }

    public mutating func setLimits(_ limits: Limits, of session: Session) {
        sessions[session, default: SessionState()].limits = limits
    }

    /// The session is gone. Its running tasks count until they are released; those that were loaded never start.
    public mutating func forget(session: Session) {
        guard let state = sessions[session] else { return }
        sessions[session]?.limits = nil
        for lane in state.lanes {
            _ = lanes[lane]?.takeReady()
            lanes[lane]?.mayHaveMore = false
            lanes[lane]?.isLoading = false
            removeIfIdle(lane)
        }
        removeIfForgotten(session)
    }

    /// Tasks of this lane wait in the store. `reload`: among them may be some that go before those already loaded.
    /// Returns the loaded tasks that are given up for it.
    @discardableResult
    public mutating func add(_ lane: Lane, of session: Session, to origin: Origin? = nil, reload: Bool) -> [Task] {
        know(lane, of: session, to: origin)
        guard var state = lanes[lane] else { return [] }
        state.mayHaveMore = true
        state.isAnswerStale = state.isLoading
        state.isAnswerOutdated = state.isLoading && (reload || state.isAnswerOutdated)
        let dropped = reload ? state.takeReady() : []
        lanes[lane] = state
        return dropped
    }

    /// The answer to `load`: fewer tasks than asked for means that there are no more. `urgent`: which of them start at
    /// once. Returns the tasks of the answer that are given up, because others go before them.
    @discardableResult
    public mutating func loaded(_ lane: Lane, _ tasks: [Task], urgent: Set<Task> = [], isAll: Bool) -> [Task] {
        guard var state = lanes[lane], state.isLoading else { return tasks }
        state.isLoading = false
        if state.isAnswerOutdated {
            state.isAnswerOutdated = false
            state.isAnswerStale = false
            lanes[lane] = state
            return tasks
        }
        // An answer without tasks that promises more would be asked for again at once, without end.
        if isAll || tasks.isEmpty, !state.isAnswerStale { state.mayHaveMore = false }
        state.isAnswerStale = false
        state.ready = Array(state.ready[state.next...]) + tasks
        state.next = 0
        state.urgent.formUnion(urgent)
        if !state.urgent.isEmpty { urgentLanes.insert(lane) }
        lanes[lane] = state
        return []
    }

    /// A loaded task is not to be started after all.
    public mutating func drop(_ task: Task, in lane: Lane) {
        guard let state = lanes[lane], let index = state.ready[state.next...].firstIndex(of: task) else { return }
        lanes[lane]?.ready.remove(at: index)
        lanes[lane]?.urgent.remove(task)
    }

    /// The origin answers over HTTP/2: tasks share a connection. Or those to come do not.
    public mutating func setMultiplexed(_ lane: Lane, _ isMultiplexed: Bool = true) {
        guard let state = lanes[lane], state.isMultiplexed != isMultiplexed else { return }
        change(lane) { $0.isMultiplexed = isMultiplexed }
    }

    /// While a lane is probed one task of it is tried at a time, beside those that run already: its server may turn all
    /// of them away for the same reason.
    public mutating func setProbed(_ lane: Lane, _ isProbed: Bool) { lanes[lane]?.isProbed = isProbed }

    /// Nothing of a held lane starts: no way leads to its server for now.
    public mutating func setHeld(_ lane: Lane, _ isHeld: Bool) { lanes[lane]?.isHeld = isHeld }

    public func isProbed(_ lane: Lane) -> Bool { lanes[lane]?.isProbed ?? false }

    /// It is known how the server takes a task that was started while the lane was probed.
    public mutating func endedProbe(_ lane: Lane) {
        guard let state = lanes[lane], state.probes > 0 else { return }
        lanes[lane]?.probes -= 1
        removeIfForgotten(state.session)
    }

    /// A started task does not need its place any more.
    @specialized(where Lane == LaneID, Session == SessionID, Task == TaskID)
    public mutating func released(_ lane: Lane) {
        guard let state = lanes[lane], state.running > 0 else { return }
        running -= 1
        change(lane) { $0.running -= 1 }
        sessions[state.session]?.running -= 1
        removeIfForgotten(state.session)
    }
}
