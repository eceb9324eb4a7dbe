/// Chooses the next task to start, and the next lane whose tasks are loaded from the store. A *slot* is the right of a
/// task to run.
extension Schedule {
    public enum Step: Equatable, Sendable {
        case start(Task, Lane)
        case load(Lane, limit: Int)
        /// A running task must be preempted (stopped), because an urgent task has no slot or connection. If the step
        /// has an origin, the running task must belong to that origin. This step is returned one time for each urgent
        /// task.
        case preempt(Origin?)
        /// An urgent task has no connection, and running tasks have further connections. One of these connections must
        /// be released. If the step has an origin, it must be a connection to that origin. This step replaces the step
        /// `preempt`.
        case releaseExtraConnection(Origin?)
    }

    /// Returns the next step; nil if no task can start now and no lane must be loaded.
    @specialized(where Lane == LaneID, Session == SessionID, Task == TaskID)
    public mutating func next() -> Step? {
        if let load = nextLoad() { return load }
        // Tasks that share a connection would never release it while new tasks start on it.
        var awaited: [Origin: Bool] = [:]
        if let step = nextUrgent(&awaited) { return step }
        guard running < engineLimits.running else { return nil }
        for index in sessionQueue.indices {
            guard let start = nextStart(of: sessionQueue[index], &awaited) else { continue }
            sessionQueue.append(sessionQueue.remove(at: index))
            return start
        }
        return nil
    }

    /// Whether all limits allow a slot for one more task of the lane, and no urgent task waits for the same. The result
    /// does not depend on whether the task is loaded.
    public func hasFreeSlot(_ lane: Lane, of session: Session, to origin: Origin? = nil) -> Bool {
        let state = lanes[lane] ?? LaneState(session: session, origin: origin)
        guard let session = sessions[state.session], let limits = session.limits else { return false }
        return running < engineLimits.running && session.running < limits.perSession
            && state.requests < width(of: state, limits) && hasConnection(state) && originAllowsTask(of: state)
            && !urgentLanes.contains {
                lanes[$0].map { isNextUrgent($0) && (hasConnection($0) || $0.origin == state.origin) } ?? false
            }
    }

    /// Whether the lane's next task is urgent, and waits only for a slot or a connection.
    private func isNextUrgent(_ lane: LaneState) -> Bool {
        lane.isUrgent && lane.allowsTask && originAllowsTask(of: lane) && sessions[lane.session]?.limits != nil
    }

    /// Gives a slot of the lane to a task that was not loaded. The slot counts against the limits until it is released.
    public mutating func takeSlot(_ lane: Lane, of session: Session, to origin: Origin? = nil) {
        let isNew = register(lane, of: session, to: origin)
        change(lane) { lane in
            if isNew { lane.mayHaveMore = false }
            lane.running += 1
        }
        running += 1
        if let session = lanes[lane]?.session { sessions[session]?.running += 1 }
    }

    /// Takes one more connection for a running task of the lane, if the limits allow that and no task waits for the
    /// connection. It is called after `next()` has returned nil: so no ready task can use the connection. Returns
    /// whether a connection was taken.
    public mutating func takeExtraConnection(_ lane: Lane) -> Bool {
        guard let state = lanes[lane], let limits = sessions[state.session]?.limits, state.running > 0,
            !state.isHeld, !state.runsOneTask, state.runningAlone == 0, state.requests < width(of: state, limits),
            hasConnection(state), originAllowsExtraConnection(of: state), !awaitsTasks
        else { return false }
        change(lane) { $0.extraConnections += 1 }
        return true
    }

    public mutating func releasedExtraConnection(_ lane: Lane) {
        guard let state = lanes[lane], state.extraConnections > 0 else { return }
        change(lane) { $0.extraConnections -= 1 }
        removeIfForgotten(state.session)
    }

    /// Whether the release of a further connection allows a task to start. Nil means any origin.
    private func hasExtraConnection(to origin: Origin?) -> Bool {
        lanes.values.contains {
            $0.extraConnections > 0 && !$0.isMultiplexed && (origin == nil || $0.origin == origin)
        }
    }

    /// Whether tasks are being loaded that may start at once.
    private var awaitsTasks: Bool { lanes.values.contains { $0.isLoading && $0.readyCount == 0 } }

    /// An origin that has asked for a pause gets no further connections.
    private func originAllowsExtraConnection(of lane: LaneState) -> Bool {
        lane.origin.map { originWidths[$0] == nil } ?? true
    }

    /// Adds the lane if it is not known. Returns true if it was added.
    @discardableResult
    mutating func register(_ lane: Lane, of session: Session, to origin: Origin?) -> Bool {
        guard lanes[lane] == nil else { return false }
        lanes[lane] = LaneState(session: session, origin: origin)
        sessions[session, default: SessionState()].lanes.append(lane)
        if sessions[session]?.lanes.count == 1 { sessionQueue.append(session) }
        return true
    }

    /// Returns a load for the first changed lane that needs more tasks. If no changed lane needs a load, forgets the
    /// idle lanes.
    private mutating func nextLoad() -> Step? {
        while nextChanged < changedLanes.count {
            let lane = changedLanes[nextChanged]
            nextChanged += 1
            guard let state = lanes[lane] else { continue }
            lanes[lane]?.hasChanged = false
            if state.mayHaveMore, !state.isLoading, state.readyCount < max(1, loadTarget / 2) {
                lanes[lane]?.isLoading = true
                return .load(lane, limit: loadTarget)
            }
        }
        removeIdle(among: changedLanes)
        changedLanes.removeAll(keepingCapacity: true)
        nextChanged = 0
        return nil
    }

    mutating func noteChange(of lane: Lane) {
        guard lanes[lane]?.hasChanged == false else { return }
        lanes[lane]?.hasChanged = true
        changedLanes.append(lane)
    }

    /// `awaited`: the origins at which a task waits only for a connection, and whether it is urgent. A lane that shares
    /// a connection to such an origin yields it: at once to an urgent task, and else after a turn of `streamLimit`
    /// tasks.
    private mutating func nextStart(of session: Session, _ awaited: inout [Origin: Bool]) -> Step? {
        guard let state = sessions[session], let limits = state.limits, state.running < limits.perSession else {
            return nil
        }
        for lane in state.lanes {
            guard let waiting = lanes[lane], waiting.readyCount > 0, waiting.allowsTask,
                waiting.requests < width(of: waiting, limits), originAllowsTask(of: waiting)
            else { continue }
            let isUrgent = waiting.sharesConnection ? waiting.origin.flatMap { awaited[$0] } : nil
            let yields = isUrgent.map { $0 || waiting.sharedStarts >= streamLimit } ?? false
            if hasConnection(waiting), !yields { return start(lane) }
            // If all connections of the engine are in use, any origin may release one.
            if let origin = waiting.origin, connections < engineLimits.connections {
                awaited[origin] = awaited[origin] ?? false
            }
        }
        return nil
    }

    /// How many tasks one load requests. A load begins when fewer than half of them are left.
    private var loadTarget: Int {
        let count = max(1, lanes.count)
        let limit = max(Self.smallestTarget, Self.readyLimitOfAllLanes / count)
        return max(min(readyTarget, limit), readyTargetOfAllLanes / count)
    }

    private mutating func nextUrgent(_ awaited: inout [Origin: Bool]) -> Step? {
        guard !urgentLanes.isEmpty else { return nil }
        urgentLanes = urgentLanes.filter { lanes[$0]?.urgent.isEmpty == false }
        for session in sessionQueue {
            for lane in sessions[session]?.lanes ?? [] {
                guard let waiting = lanes[lane], isNextUrgent(waiting) else { continue }
                let isFull = running >= engineLimits.running
                if !isFull, hasConnection(waiting) { return start(lane) }
                if !isFull, let origin = waiting.origin { awaited[origin] = true }
                guard waiting.requestedPreemptions < waiting.urgent.count else { continue }
                lanes[lane]?.requestedPreemptions += 1
                let origin = isFull || connections >= engineLimits.connections ? nil : waiting.origin
                return !isFull && hasExtraConnection(to: origin) ? .releaseExtraConnection(origin) : .preempt(origin)
            }
        }
        return nil
    }

    private mutating func start(_ lane: Lane) -> Step? {
        guard let state = lanes[lane], let task = state.first else { return nil }
        change(lane) { lane in
            if lane.runsOneTask { lane.runningAlone += 1 }
            if lane.urgent.remove(task) != nil { lane.requestedPreemptions = max(0, lane.requestedPreemptions - 1) }
            lane.next += 1
            lane.sharedStarts = lane.requests == 0 ? 1 : lane.sharedStarts + 1
            lane.running += 1
        }
        running += 1
        sessions[state.session]?.running += 1
        sessions[state.session]?.lanes.removeAll { $0 == lane }
        sessions[state.session]?.lanes.append(lane)
        return .start(task, lane)
    }

    /// Whether the limits of connections allow one more task of the lane.
    private func hasConnection(_ lane: LaneState) -> Bool {
        if lane.sharesConnection { return true }
        guard connections < engineLimits.connections else { return false }
        guard let limit = engineLimits.connectionsPerOrigin, let origin = lane.origin else { return true }
        return connectionsTo[origin, default: 0] < limit
    }

    /// Whether the lane's origin may run one more task.
    private func originAllowsTask(of lane: LaneState) -> Bool {
        guard !originWidths.isEmpty, let origin = lane.origin, let width = originWidths[origin] else { return true }
        return width > requestsTo[origin, default: 0]
    }

    /// Changes the lane, and updates the counts of connections and requests.
    mutating func change(_ lane: Lane, _ body: (inout LaneState) -> Void) {
        guard var state = lanes[lane] else { return }
        let (connectionsBefore, requestsBefore) = (state.connections, state.requests)
        body(&state)
        lanes[lane] = state
        noteChange(of: lane)
        let more = state.connections - connectionsBefore
        connections += more
        guard let origin = state.origin else { return }
        Self.add(more, to: &connectionsTo[origin])
        Self.add(state.requests - requestsBefore, to: &requestsTo[origin])
    }

    private static func add(_ more: Int, to count: inout Int?) {
        let sum = (count ?? 0) + more
        count = sum == 0 ? nil : sum
    }

    private func width(of lane: LaneState, _ limits: Limits?) -> Int {
        let connections = limits?.perLane ?? 0
        return lane.isMultiplexed ? max(streamLimit, connections) : connections
    }

    /// Forgets the lanes that are idle. A later `add` registers them again. All idle lanes of a session are removed
    /// from its list together, because a removal searches the whole list.
    mutating func removeIdle(among candidates: [Lane]) {
        var removed: [Session: Set<Lane>] = [:]
        for lane in candidates {
            guard let state = lanes[lane], state.isIdle else { continue }
            lanes[lane] = nil
            removed[state.session, default: []].insert(lane)
        }
        for (session, idle) in removed {
            sessions[session]?.lanes.removeAll { idle.contains($0) }
            if sessions[session]?.lanes.isEmpty == true { sessionQueue.removeAll { $0 == session } }
        }
    }

    mutating func removeIfForgotten(_ session: Session) {
        guard let state = sessions[session], state.limits == nil, state.running == 0 else { return }
        removeIdle(among: state.lanes)
        if sessions[session]?.lanes.isEmpty == true { sessions[session] = nil }
    }
}
