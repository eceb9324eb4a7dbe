/// Which task starts next, as a value: limits per lane (all tasks of a session for one origin), per session and for the
/// engine, and turns. It knows the tasks that were loaded from the store, not all that wait there.
///
/// Sessions take turns, and within a session its lanes: who was served goes to the back, who cannot start for now keeps
/// its place. So nobody waits for ever, and a session with a thousand origins does not crowd out one with a single one.
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
        /// While a load is under way: its answer may not know of tasks that wait since.
        var isAnswerStale = false
        var mayHaveMore = true
        var isMultiplexed = false
        var isProbed = false
        /// Started while probed, and not known to be let in.
        var probes = 0

        var readyCount: Int { ready.count - next }
        var mayProbe: Bool { !isProbed || probes == 0 }
    }

    private struct SessionState {
        /// Nil before they are set, and after the session was forgotten: nothing starts.
        var limits: Limits?
        var running = 0
        /// In turn.
        var lanes: [Lane] = []
    }

    public var engineLimit: Int
    /// Streams of one HTTP/2 connection: the value that RFC 9113, section 6.5.2, names as the least to offer.
    public let streamLimit: Int
    /// Loaded ahead of their turn.
    public let readyTarget: Int
    public private(set) var running = 0
    private var lanes: [Lane: LaneState] = [:]
    private var sessions: [Session: SessionState] = [:]
    /// Sessions with lanes, in turn.
    private var turns: [Session] = []

    public init(engineLimit: Int = 256, streamLimit: Int = 100, readyTarget: Int = 128) {
        self.engineLimit = engineLimit
        self.streamLimit = streamLimit
        self.readyTarget = max(1, readyTarget)
    }

    public mutating func setLimits(_ limits: Limits, of session: Session) {
        sessions[session, default: SessionState()].limits = limits
    }

    /// The session is gone. Its running tasks count until they are released; those that were loaded never start.
    public mutating func forget(session: Session) {
        guard let state = sessions[session] else { return }
        sessions[session]?.limits = nil
        for lane in state.lanes {
            lanes[lane]?.ready = []
            lanes[lane]?.next = 0
            lanes[lane]?.mayHaveMore = false
            lanes[lane]?.isLoading = false
            removeIfIdle(lane)
        }
        removeIfForgotten(session)
    }

    /// Tasks of this lane wait in the store. `reload`: among them may be some that go before those already loaded.
    /// Returns the loaded tasks that are given up for it.
    @discardableResult
    public mutating func add(_ lane: Lane, of session: Session, reload: Bool) -> [Task] {
        if lanes[lane] == nil {
            lanes[lane] = LaneState(session: session)
            sessions[session, default: SessionState()].lanes.append(lane)
            if sessions[session]?.lanes.count == 1 { turns.append(session) }
        }
        guard var state = lanes[lane] else { return [] }
        state.mayHaveMore = true
        state.isAnswerStale = state.isLoading
        var dropped: [Task] = []
        if reload {
            dropped = Array(state.ready[state.next...])
            state.ready = []
            state.next = 0
        }
        lanes[lane] = state
        return dropped
    }

    /// The answer to `load`: fewer tasks than asked for means that there are no more.
    public mutating func loaded(_ lane: Lane, _ tasks: [Task], isAll: Bool) {
        guard var state = lanes[lane], state.isLoading else { return }
        state.isLoading = false
        // An answer without tasks that promises more would be asked for again at once, without end.
        if isAll || tasks.isEmpty, !state.isAnswerStale { state.mayHaveMore = false }
        state.isAnswerStale = false
        state.ready = Array(state.ready[state.next...]) + tasks
        state.next = 0
        lanes[lane] = state
    }

    /// A loaded task is not to be started after all.
    public mutating func drop(_ task: Task, in lane: Lane) {
        guard let state = lanes[lane], let index = state.ready[state.next...].firstIndex(of: task) else { return }
        lanes[lane]?.ready.remove(at: index)
    }

    /// The origin answered over HTTP/2: tasks share a connection.
    public mutating func setMultiplexed(_ lane: Lane) { lanes[lane]?.isMultiplexed = true }

    /// While a lane is probed one task of it is tried at a time, beside those that run already: its server may turn all
    /// of them away for the same reason.
    public mutating func setProbed(_ lane: Lane, _ isProbed: Bool) { lanes[lane]?.isProbed = isProbed }

    public func isProbed(_ lane: Lane) -> Bool { lanes[lane]?.isProbed ?? false }

    /// It is known how the server takes a task that was started while the lane was probed.
    public mutating func endedProbe(_ lane: Lane) {
        guard let state = lanes[lane], state.probes > 0 else { return }
        lanes[lane]?.probes -= 1
        removeIfForgotten(state.session)
    }

    /// A started task does not need its place any more.
    public mutating func released(_ lane: Lane) {
        guard let state = lanes[lane], state.running > 0 else { return }
        running -= 1
        lanes[lane]?.running -= 1
        sessions[state.session]?.running -= 1
        removeIfForgotten(state.session)
    }

    public enum Step: Equatable, Sendable {
        case start(Task, Lane)
        case load(Lane, limit: Int)
    }

    /// What to do next, or nil when nothing can be done now.
    public mutating func next() -> Step? {
        var turn = 0
        while turn < turns.count {
            let session = turns[turn]
            if let step = next(of: session) {
                if case .start = step { turns.append(turns.remove(at: turn)) }
                return step
            }
            // Gone when its last lane turned out to be idle.
            if turn < turns.count, turns[turn] == session { turn += 1 }
        }
        return nil
    }

    private mutating func next(of session: Session) -> Step? {
        guard let state = sessions[session] else { return nil }
        let mayStart = running < engineLimit && state.limits.map { state.running < $0.perSession } ?? false
        for lane in state.lanes {
            guard let waiting = lanes[lane] else { continue }
            if waiting.mayHaveMore, !waiting.isLoading, waiting.readyCount < max(1, readyTarget / 2) {
                lanes[lane]?.isLoading = true
                return .load(lane, limit: readyTarget)
            }
            if mayStart, waiting.readyCount > 0, waiting.mayProbe, waiting.running < width(of: waiting, state.limits) {
                if waiting.isProbed { lanes[lane]?.probes += 1 }
                lanes[lane]?.next += 1
                lanes[lane]?.running += 1
                running += 1
                sessions[session]?.running += 1
                // Not by its number: idle lanes before it are gone by now.
                sessions[session]?.lanes.removeAll { $0 == lane }
                sessions[session]?.lanes.append(lane)
                return .start(waiting.ready[waiting.next], lane)
            }
            removeIfIdle(lane)
        }
        return nil
    }

    private func width(of lane: LaneState, _ limits: Limits?) -> Int {
        let connections = limits?.perLane ?? 0
        return lane.isMultiplexed ? max(streamLimit, connections) : connections
    }

    /// Nothing is known of the lane any more; it comes back with `add`.
    private mutating func removeIfIdle(_ lane: Lane) {
        guard let state = lanes[lane], state.readyCount == 0, state.running == 0, state.probes == 0,
            !state.mayHaveMore, !state.isLoading
        else { return }
        lanes[lane] = nil
        sessions[state.session]?.lanes.removeAll { $0 == lane }
        if sessions[state.session]?.lanes.isEmpty == true { turns.removeAll { $0 == state.session } }
    }

    private mutating func removeIfForgotten(_ session: Session) {
        guard let state = sessions[session], state.limits == nil, state.running == 0 else { return }
        for lane in state.lanes { removeIfIdle(lane) }
        if sessions[session]?.lanes.isEmpty == true { sessions[session] = nil }
    }
}
