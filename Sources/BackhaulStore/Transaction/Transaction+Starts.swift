public import BackhaulModel

/// Earliest and latest starts. Both are times of the calendar on the wall, whatever becomes of it; a task that waits
/// for its earliest start is a delayed one, whose due time follows the calendar.
extension Transaction {
    /// Tasks whose latest start has come state from now on that it has, whether they wait or run. Some thousands at a
    /// time: then `next` has come, too.
    public func movePastLatestStart(now: Int64) throws(Failure) -> RestatedTasks {
        var moved = RestatedTasks()
        let due = try connection.all(Self.selectLate, .integer(now), .integer(Self.batch)) { row throws(Failure) in
            (id: row.taskID(), session: row.sessionID(), lane: row.laneID(), before: row.constraintsID(),
                isLive: row.flag())
        }
        var after: [ConstraintsOfSession: ConstraintsID] = [:]
        for task in due {
            let key = ConstraintsOfSession(session: task.session, constraints: task.before)
            if after[key] == nil {
                var constraints = try self.constraints(task.before)
                constraints.isPastLatestStart = true
                after[key] = try restate(constraints, in: task.session, &moved)
            }
            guard let constraints = after[key] else { continue }
            try connection.run(Self.move, .id(task.id), .id(constraints))
            guard task.isLive else { continue }
            moved.lanes.insert(task.lane)
            moved.tasks[task.id] = constraints
        }
        moved.next = try nextLatestStart()
        return moved
    }

    /// What the tasks of the selection have stated is replaced; whether their latest start is past stays.
    func restateSelectedTasks(_ stated: Constraints, of session: SessionID) throws(Failure) -> RestatedTasks {
        var restated = RestatedTasks()
        let before = try connection.all(Self.selectStated) { row throws(Failure) in row.constraintsID() }
        var after: [(before: ConstraintsID, after: ConstraintsID)] = []
        for id in before {
            let isPast = try constraints(id).isPastLatestStart
            let constraints = TaskConstraints(stated, isPastLatestStart: isPast)
            after.append((id, try restate(constraints, in: session, &restated)))
        }
        let tasks = try connection.all(Self.selectStating) { row throws(Failure) in
            (id: row.taskID(), constraints: row.constraintsID())
        }
        for task in tasks {
            guard let constraints = after.first(where: { $0.before == task.constraints })?.after else { continue }
            restated.tasks[task.id] = constraints
            try connection.run(Self.restate, .id(task.id), .id(constraints))
        }
        return restated
    }

    func restate(
        _ constraints: TaskConstraints, in session: SessionID, _ restated: inout RestatedTasks
    ) throws(Failure) -> ConstraintsID {
        let id = try constraintsID(for: constraints, in: session)
        if id != .session {
            restated.constraints[id] = StoredConstraints(id: id, session: session, constraints: constraints)
        }
        return id
    }

    /// In Unix milliseconds.
    public func nextLatestStart() throws(Failure) -> Int64? {
        try connection.first(Self.selectNext) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Gives tasks that wait for their earliest start their due times by this boot's clock: all, because the calendar
    /// has jumped, or those that have none since another boot.
    func rescheduleStarts(_ now: ClockReading, all: Bool) throws(Failure) {
        try connection.run(
            all ? Self.rescheduleAll : Self.rescheduleOthers, .integer(now.boot), .integer(now.wall))
    }

    /// Tasks of the selection that wait for their turn, and whose earliest start lies ahead, wait for it.
    func delayStartsOfSelectedTasks(_ clock: StartClock) throws(Failure) -> Bool {
        try connection.run(Self.delaySelected, .integer(clock.boot), .integer(clock.wall))
        guard connection.changes > 0 else { return false }
        try connection.run(Self.beginDelays, .integer(clock.calendar), .integer(clock.wall))
        return true
    }

    /// The boot clock's time of a moment that lies ahead. Whoever says "never" gets a thousand years.
    static func due(at start: Int64, bootMilliseconds: Int64, now: Int64) -> Int64 {
        bootMilliseconds + max(0, min(start.subtractingReportingOverflow(now).partialValue, longest))
    }

    private struct ConstraintsOfSession: Hashable {
        var session: SessionID
        var constraints: ConstraintsID
    }

    /// A few tens of milliseconds.
    private static let batch: Int64 = 4_096
    private static let longest: Int64 = 1_000 * 31_557_600_000
    private static let selectLate = Query(
        """
        SELECT id, session_id, lane_id, constraints_id, state <= 3 FROM tasks INDEXED BY tasks_by_latest_start
        WHERE latest_start_ms <= ? LIMIT ?
        """)
    private static let move = Query("UPDATE tasks SET constraints_id = ?2, latest_start_ms = NULL WHERE id = ?1")
    private static let selectStated = Query(
        "SELECT DISTINCT constraints_id FROM selected CROSS JOIN tasks ON tasks.id = selected.id")
    private static let selectStating = Query(
        "SELECT tasks.id, constraints_id FROM selected CROSS JOIN tasks ON tasks.id = selected.id")
    private static let restate = Query("UPDATE tasks SET constraints_id = ?2 WHERE id = ?1")
    private static let selectNext = Query("SELECT min(latest_start_ms) FROM tasks WHERE latest_start_ms IS NOT NULL")
    private static let start = """
        due_boot_ms = ?1 + max(0, min(\(longest), (SELECT earliest_start_ms FROM request_options
            WHERE request_options.task_id = tasks.id) - ?2))
        """
    private static let rescheduleAll = Query("UPDATE tasks SET \(start) WHERE due_boot_ms >= 0 AND due_reason = 18")
    private static let rescheduleOthers = Query("UPDATE tasks SET \(start) WHERE due_boot_ms = 0 AND due_reason = 18")
    private static let delaySelected = Query(
        """
        UPDATE tasks SET due_reason = 18, \(start) WHERE state = 1 AND id IN
            (SELECT task_id FROM selected CROSS JOIN request_options ON task_id = selected.id
                WHERE earliest_start_ms > ?2)
        """)
    private static let beginDelays = Query(
        """
        UPDATE request_options SET start_delayed_ms = ?1
        WHERE task_id IN selected AND start_delayed_ms IS NOT NULL AND earliest_start_ms > ?2
        """)
}
