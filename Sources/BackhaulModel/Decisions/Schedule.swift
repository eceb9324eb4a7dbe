/// Which task starts next, as a value: limits per lane (all tasks of a session for one origin), per session and for the
/// engine, and turns among the lanes. It knows the tasks that were loaded from the store, not all that wait there.
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

    private struct LaneState {
        let session: Session
        var ready: [Task] = []
        var next = 0
        var running = 0
        var isLoading = false
        var mayHaveMore = true
        var isMultiplexed = false

        var readyCount: Int { ready.count - next }
    }

    private struct SessionState {
        var limits: Limits
        var running = 0
    }

    public let engineLimit: Int
    /// Streams of one HTTP/2 connection: the value that RFC 9113, section 6.5.2, names as the least to offer.
    public let streamLimit: Int
    /// Loaded ahead of their turn.
    public let readyTarget: Int
    public private(set) var running = 0
    private var lanes: [Lane: LaneState] = [:]
    private var sessions: [Session: SessionState] = [:]
    /// Lanes that may have something to start or load, in turn.
    private var turns: [Lane] = []
    private var position = 0

    public init(engineLimit: Int = 256, streamLimit: Int = 100, readyTarget: Int = 128) {
        self.engineLimit = engineLimit
        self.streamLimit = streamLimit
        self.readyTarget = readyTarget
    }

    public mutating func setLimits(_ limits: Limits, of session: Session) {
        sessions[session, default: SessionState(limits: limits)].limits = limits
    }

    public mutating func forget(session: Session) { sessions[session] = nil }

    /// Tasks of this lane wait in the store. `reload`: among them may be some that go before those already loaded.
    /// Returns the loaded tasks that are given up for it.
    @discardableResult
    public mutating func add(_ lane: Lane, of session: Session, reload: Bool) -> [Task] {
        if lanes[lane] == nil {
            lanes[lane] = LaneState(session: session)
            turns.append(lane)
        }
        lanes[lane]?.mayHaveMore = true
        guard reload, var state = lanes[lane], state.readyCount > 0 else { return [] }
        let dropped = Array(state.ready[state.next...])
        state.ready = []
        state.next = 0
        lanes[lane] = state
        return dropped
    }

    /// The answer to `load`: fewer tasks than asked for means that there are no more.
    public mutating func loaded(_ lane: Lane, _ tasks: [Task], isAll: Bool) {
        guard var state = lanes[lane] else { return }
        state.isLoading = false
        if isAll { state.mayHaveMore = false }
        state.ready = Array(state.ready[state.next...]) + tasks
        state.next = 0
        lanes[lane] = state
    }

    /// A loaded task is not to be started after all.
    public mutating func drop(_ task: Task, in lane: Lane) {
        guard var state = lanes[lane], let index = state.ready[state.next...].firstIndex(of: task) else { return }
        state.ready.remove(at: index)
        lanes[lane] = state
    }

    /// The origin answered over HTTP/2: tasks share a connection.
    public mutating func setMultiplexed(_ lane: Lane) { lanes[lane]?.isMultiplexed = true }

    public mutating func released(_ lane: Lane) {
        guard var state = lanes[lane], state.running > 0 else { return }
        state.running -= 1
        running -= 1
        sessions[state.session]?.running -= 1
        lanes[lane] = state
    }

    public enum Step: Equatable, Sendable {
        case start(Task, Lane)
        case load(Lane, limit: Int)
    }

    /// What to do next, or nil when nothing can be done now. Lanes take turns.
    public mutating func next() -> Step? {
        var looked = 0
        while looked < turns.count {
            if position >= turns.count { position = 0 }
            let lane = turns[position]
            guard var state = lanes[lane] else {
                turns.remove(at: position)
                continue
            }
            if !state.isLoading, state.mayHaveMore, state.readyCount < readyTarget / 2 {
                state.isLoading = true
                lanes[lane] = state
                return .load(lane, limit: readyTarget)
            }
            if state.readyCount > 0, mayStart(state) {
                let task = state.ready[state.next]
                state.next += 1
                state.running += 1
                running += 1
                sessions[state.session]?.running += 1
                lanes[lane] = state
                position += 1
                return .start(task, lane)
            }
            if state.readyCount == 0, state.running == 0, !state.mayHaveMore, !state.isLoading {
                // Nothing is known of it any more; it comes back with `add`.
                lanes[lane] = nil
                turns.remove(at: position)
                continue
            }
            position += 1
            looked += 1
        }
        return nil
    }

    private func mayStart(_ state: LaneState) -> Bool {
        guard running < engineLimit, let session = sessions[state.session] else { return false }
        return session.running < session.limits.perSession
            && state.running < (state.isMultiplexed ? max(streamLimit, session.limits.perLane) : session.limits.perLane)
    }
}
