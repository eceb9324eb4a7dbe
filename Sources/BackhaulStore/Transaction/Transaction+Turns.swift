public import BackhaulModel

/// Whose turn it is among the tasks of a lane, and what waits for one.
extension Transaction {
    /// Tasks with the same constraints stand one after another in the index; those that few tasks state are merged with
    /// those that state none.
    func turns(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID>, notOf held: Set<ConstraintsID>
    ) throws(Failure) -> [TaskID] {
        var turns: [Turn] = []
        var constraints: ConstraintsID? = .session
        while let current = constraints {
            if !held.contains(current) {
                // A later task than the last of as many as are wanted is not wanted, and nor is any after it.
                let last = turns.count == limit ? turns.last : nil
                var more: [Turn] = []
                try connection.eachWhile(Self.selectTurns, .id(lane), .id(current)) { row throws(Failure) in
                    let turn = Turn(priority: row.integer(), id: row.taskID())
                    if let last, last < turn { return false }
                    if !known.contains(turn.id) { more.append(turn) }
                    return more.count < limit
                }
                turns = turns.isEmpty ? more : Array((turns + more).sorted().prefix(limit))
            }
            constraints = try nextConstraints(after: .id(current), in: lane)
        }
        return turns.map(\.id)
    }

    /// The first of those that have stated this, passing over `known`; nil: none waits for its turn.
    public func firstWaitingTask(
        lane: LaneID, stating constraints: ConstraintsID, notIn known: Set<TaskID> = []
    ) throws(Failure) -> StoredTask? {
        var found: TaskID?
        try connection.eachWhile(Self.selectTurns, .id(lane), .id(constraints)) { row throws(Failure) in
            _ = row.integer()
            let id = row.taskID()
            if !known.contains(id) { found = id }
            return found == nil
        }
        guard let found else { return nil }
        return try storedTask(found)
    }

    /// What tasks of the lane that wait for their turn have stated.
    public func waitingConstraints(of lane: LaneID) throws(Failure) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        var last = Value.integer(-1)
        while let next = try nextConstraints(after: last, in: lane) {
            found.insert(next)
            last = .id(next)
        }
        return found
    }

    /// One step to where others begin in the index, however many tasks state the same.
    private func nextConstraints(after last: Value, in lane: LaneID) throws(Failure) -> ConstraintsID? {
        try connection.first(Self.selectNext, .id(lane), last) { row throws(Failure) in row.constraintsID() }
    }

    private struct Turn: Comparable {
        var priority: Int64
        var id: TaskID

        static func < (left: Turn, right: Turn) -> Bool {
            left.priority != right.priority ? left.priority > right.priority : left.id < right.id
        }
    }

    /// How many tasks wait for their turn, for listings: it walks over all of them.
    public func waitingCounts() throws(Failure) -> [WaitingCount] {
        try connection.all(Self.count) { row throws(Failure) in
            WaitingCount(
                session: row.sessionID(), constraints: row.constraintsID(), lane: row.laneID(), count: row.number())
        }
    }

    private static let selectTurns = Query(
        """
        SELECT priority, id FROM tasks
        WHERE lane_id = ? AND state = 1 AND due_boot_ms IS NULL AND constraints_id = ? ORDER BY priority DESC, id
        """)
    private static let selectNext = Query(
        """
        SELECT constraints_id FROM tasks
        WHERE lane_id = ? AND state = 1 AND due_boot_ms IS NULL AND constraints_id > ? ORDER BY constraints_id LIMIT 1
        """)
    private static let count = Query(
        """
        SELECT lanes.session_id, constraints_id, lanes.id, count(*) FROM lanes CROSS JOIN tasks
            ON lane_id = lanes.id AND state = 1 AND due_boot_ms IS NULL
        GROUP BY lanes.id, constraints_id
        """)
}
