internal import BackhaulModel
internal import BackhaulPlatform

/// Makes the rows of a database consistent after some rows were lost. What a host must know is reported.
///
/// A task without its session, its request or a part of the request is removed, because it could transfer something
/// else than the host has asked for. All other losses leave the task, in a form that does no harm.
struct Consistency {
    let tables: Tables
    /// The tables of which rows were lost.
    let damaged: Set<String>
    let origin: (String) -> Origin?
    let reportLoss: (String) -> Void

    private var connection: Connection { tables.connection }
    private var rounds: RoundOperations { RoundOperations(tables: tables) }
    private var dependencies: DependencyOperations { DependencyOperations(tables: tables) }
    private var ends: TaskEndOperations { TaskEndOperations(tables: tables) }

    func restore(now: Int64) throws(Failure) {
        try removeIncompleteTasks()
        try removeIncompleteActivities()
        try removeOrphans()
        try connection.run(Self.removeConsumedOfLostTasks)
        try restoreLanes()
        try suspendTasksWithoutConstraints(now: now)
        try reportEach(Self.leaveLostGroups) { "task \($0.rawValue) has lost its group" }
        try connection.run(Self.releaseParked)
        try connection.run(Self.removeUnusedChallenges)
        try connection.run(Self.removeEventsOfLostRows)
        try connection.run(Self.insertEnds, .integer(now))
        if damaged.contains("events") { try insertLostEvents(now: now) }
        try connection.run(Self.countInSessions)
        try connection.run(Self.countInGroups)
        try finishGroupsAndRounds(now: now)
        try endTasksThatWaitForLostTasks(now: now)
    }

    /// Reports the downloaded files whose tasks are lost. The folder has one file for each task, named by its number.
    func reportFilesWithoutTask(in folder: String) throws(Failure) {
        for name in (try? DirectoryReader.textNames(in: folder)) ?? [] where UInt64(name) != nil {
            let isKnown = try connection.first(Self.hasTask, .text(name)) { row throws(Failure) in row.flag() }
            if isKnown != true { reportLoss("the task of the file \(folder)/\(name) is lost; move the file away") }
        }
    }

    // MARK: Tasks

    private func removeIncompleteTasks() throws(Failure) {
        let lost = try connection.all(Self.incompleteTasks) { row throws(Failure) in
            let task = row.taskID("ids.id")
            let (url, path, what) = (row.optionalText("url"), row.optionalText("destination"), row.text("lost"))
            return (task, Self.sentence("task \(task.rawValue)", what, url, path))
        }
        for (task, sentence) in lost {
            reportLoss(sentence)
            try connection.run(Self.removeTask, .id(task))
        }
    }

    /// Without a part of its request, an activity could transfer something else than the host has asked for, or on a
    /// network that the host does not allow.
    private func removeIncompleteActivities() throws(Failure) {
        let lost = try connection.all(Self.removeIncompleteActivities) { row throws(Failure) in
            let name = "the activity \(row.text("identifier"))"
            return Self.sentence(
                name, "a part of its request", row.optionalText("url"), row.optionalText("destination"))
        }
        for sentence in lost { reportLoss(sentence) }
    }

    private static func sentence(_ name: String, _ what: String, _ url: String?, _ path: String?) -> String {
        let request = [url, path].compactMap { $0 }.joined(separator: " to ")
        return "\(name) is lost, because \(what) cannot be read" + (request.isEmpty ? "" : "; it was: \(request)")
    }

    /// Removes rows that refer to a lost row of another table, such as a lane. The lost tasks were reported before.
    private func removeOrphans() throws(Failure) {
        for table in Self.ownedByTasks {
            try connection.execute("DELETE FROM \(table) WHERE task_id > 0 AND task_id NOT IN (SELECT id FROM tasks)")
        }
        let references = try connection.all(Self.references) { row throws(Failure) in
            (row.text("tables.name"), row.text("\"from\""), row.text("\"table\""), row.text("key"))
        }
        for (table, column, owner, key) in references {
            try connection.execute("DELETE FROM \(table) WHERE \(column) NOT IN (SELECT \(key) FROM \(owner))")
            guard connection.changes > 0 else { continue }
            reportLoss("rows of the table `\(table)` are lost with their rows of the table `\(owner)`")
        }
    }

    private func restoreLanes() throws(Failure) {
        let lost = try connection.all(Self.tasksWithoutLane) { row throws(Failure) in
            (row.taskID("tasks.id"), row.sessionID("session_id"), row.text("url"))
        }
        for (task, session, url) in lost {
            guard let origin = origin(url) else { continue }
            let lane = try tables.lanes.findOrInsert(session, origin)
            try connection.run(Self.setLane, .id(task), .id(lane))
        }
    }

    /// Without its constraints, a task could transfer on a network or at a time that the host does not allow.
    private func suspendTasksWithoutConstraints(now: Int64) throws(Failure) {
        try connection.run(Self.suspendWithoutConstraints, .integer(now))
        try reportEach(Self.leaveLostConstraints) {
            "task \($0.rawValue) has lost its conditions, and is suspended; `backhaul resume` continues it"
        }
    }

    /// Reports the tasks whose ids the statement returns.
    private func reportEach(_ query: Query, _ sentence: (TaskID) -> String) throws(Failure) {
        for task in try connection.all(query, read: { row throws(Failure) in row.taskID() }) {
            reportLoss(sentence(task))
        }
    }

    /// A task that waits for a lost task does what its host has declared for a failure of that task.
    private func endTasksThatWaitForLostTasks(now: Int64) throws(Failure) {
        for row in try connection.all(Self.dependenciesOnLostTasks, read: DependencyRow.init(row:)) {
            reportLoss("task \(row.task.rawValue) waited for task \(row.predecessor.rawValue), which is lost")
            let consequences = try dependencies.lost(row, now: now)
            if !consequences.ends.isEmpty { _ = try ends.record(consequences.ends, now: now) }
        }
    }

    // MARK: Events

    /// Inserts the events that may be lost. A host may read such an event a second time.
    private func insertLostEvents(now: Int64) throws(Failure) {
        try connection.run(Self.insertFinishedRounds, .integer(now))
        try connection.run(Self.insertChallenges, .integer(now))
    }

    /// Finishes groups and rounds whose last tasks were lost.
    private func finishGroupsAndRounds(now: Int64) throws(Failure) {
        let groups = try connection.all(Self.groupsWithoutTasks) { row throws(Failure) in
            (GroupID(row.integer("id")), row.sessionID("session_id"), row.number("round") as UInt64)
        }
        for (group, session, round) in groups {
            guard let finished = try tables.groups.finish(group) else { continue }
            let event = try tables.events.insertFinished(finished, in: session, round: round, now: now)
            try tables.sessions.countEvent(event, in: session)
        }
        let sessions = try connection.all(Self.openRounds) { row throws(Failure) in
            (row.sessionID("id"), row.eventID("newest_event"))
        }
        for (session, newest) in sessions {
            try rounds.settle(session, ended: 0, newest: newest, groups: [], now: now)
        }
    }

    // MARK: -

    private static let hasTask = Query(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1) OR EXISTS (SELECT 1 FROM leftovers WHERE task_id = ?1)")
    /// The tables whose rows exist only as long as their tasks. A negative task_id of a checkpoint is no task.
    private static let ownedByTasks = [
        "requests", "request_options", "body_parts", "checkpoints", "intents", "responses", "claims",
        "refreshed_requests", "upload_resources", "dependencies", "taken_values", "events",
    ]
    private static let references = Query(
        """
        SELECT tables.name, "from", "table", keys.name AS key
        FROM pragma_table_list AS tables, pragma_foreign_key_list(tables.name), pragma_table_info("table") AS keys
        WHERE tables.schema = 'main' AND keys.pk = 1
        """)
    private static let incompleteTasks = Query(
        """
        SELECT ids.id, url, destination, CASE
            WHEN tasks.id IS NULL THEN 'its state'
            WHEN sessions.id IS NULL THEN 'its session'
            WHEN requests.task_id IS NULL THEN 'its request'
            WHEN has_options AND request_options.task_id IS NULL THEN 'a part of its request'
            WHEN tasks.ended_ms IS NULL AND body_part_count <> (
                SELECT count(*) FROM body_parts WHERE body_parts.task_id = ids.id) THEN 'its body'
            WHEN tasks.ended_ms IS NULL AND (\(TaskDelays.isDependent) AND NOT \(DependencyTable.lasts)
                OR dependency_count <> (SELECT count(*) FROM dependencies WHERE dependencies.task_id = ids.id))
                THEN 'the task that it waits for'
            WHEN tasks.ended_ms IS NULL AND EXISTS (SELECT 1 FROM dependencies WHERE dependencies.task_id = ids.id
                AND is_over AND \(DependencyTable.takesValues)) AND ids.id NOT IN (SELECT task_id FROM taken_values)
                THEN 'what it takes from the response of another task'
            END AS lost
        FROM (SELECT id FROM tasks
            \(ownedByTasks.map { "UNION SELECT task_id FROM \($0) WHERE task_id > 0" }.joined(separator: " "))) AS ids
            LEFT JOIN tasks ON tasks.id = ids.id LEFT JOIN requests ON requests.task_id = ids.id
            LEFT JOIN request_options ON request_options.task_id = ids.id
            LEFT JOIN sessions ON sessions.id = tasks.session_id
        WHERE lost IS NOT NULL
        """)
    private static let removeTask = Query("DELETE FROM tasks WHERE id = ?")
    private static let dependenciesOnLostTasks = Query(
        DependencyRow.init(row:),
        "FROM dependencies WHERE is_over = 0 AND predecessor_id NOT IN (SELECT id FROM tasks) ORDER BY task_id")
    private static let removeIncompleteActivities = Query(
        """
        DELETE FROM activities
        WHERE constraints_id <> 0 AND constraints_id NOT IN (SELECT id FROM constraints)
            OR has_options AND id NOT IN (SELECT activity_id FROM activity_options)
        RETURNING identifier, url, destination
        """)
    /// Otherwise the engine would remove the files of the lost uploads.
    private static let removeConsumedOfLostTasks = Query(
        """
        DELETE FROM consumed WHERE path NOT IN (SELECT file FROM body_parts WHERE file IS NOT NULL)
            AND path NOT IN (SELECT path FROM bodies_to_return)
        """)
    private static let removeUnusedChallenges = Query("DELETE FROM challenges WHERE NOT \(TaskTable.waitsForChallenge)")
    // NULL is not in an empty set, so a condition with NOT IN excludes NULL.
    private static let removeEventsOfLostRows = Query(
        """
        DELETE FROM events WHERE session_id NOT IN (SELECT id FROM sessions)
            OR challenge_id IS NOT NULL AND challenge_id NOT IN (SELECT id FROM challenges)
        """)
    private static let tasksWithoutLane = Query(
        """
        SELECT tasks.id, session_id, url FROM tasks JOIN requests ON requests.task_id = tasks.id
        WHERE ended_ms IS NULL AND lane_id NOT IN (SELECT id FROM lanes)
        """)
    private static let setLane = Query("UPDATE tasks SET lane_id = ?2 WHERE id = ?1")
    private static let hasLostConstraints = """
        ended_ms IS NULL AND constraints_id <> 0 AND constraints_id NOT IN (SELECT id FROM constraints)
        """
    private static let suspendWithoutConstraints = Query(
        """
        UPDATE tasks SET state = \(TaskState.suspended.sql), \(TaskDelays.clearDelay), challenge_id = NULL,
            suspended_since_ms = ?
        WHERE \(hasLostConstraints) AND \(TaskTable.isWaiting) AND NOT \(TaskDelays.isAside)
        """)
    private static let leaveLostConstraints = Query(
        "UPDATE tasks SET constraints_id = 0 WHERE \(hasLostConstraints) RETURNING id")
    private static let leaveLostGroups = Query(
        """
        UPDATE tasks SET group_id = NULL WHERE group_id IS NOT NULL AND group_id NOT IN (SELECT id FROM groups)
        RETURNING id
        """)
    /// The server asks for the credential again.
    private static let releaseParked = Query(
        """
        UPDATE tasks SET \(TaskDelays.clearDelay), challenge_id = NULL
        WHERE \(TaskDelays.isParked) AND challenge_id NOT IN (SELECT id FROM challenges)
        """)
    private static let insertEnds = Query(
        """
        INSERT INTO events (session_id, task_id, task_state, kind, round, time_ms)
        SELECT session_id, id, state, \(EventTable.Kind.taskEnded.sql), round, ?
        FROM tasks WHERE ended_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events
            WHERE events.session_id = tasks.session_id AND task_state = state AND task_id = tasks.id)
        ORDER BY id
        """)
    private static let insertFinishedRounds = Query(
        """
        INSERT INTO events (session_id, kind, round, time_ms)
        SELECT id, \(EventTable.Kind.sessionFinished.sql), round, ? FROM sessions
        WHERE round > 0 AND NOT round_open AND NOT \(EventTable.hasFinishedRound)
        """)
    private static let insertChallenges = Query(
        """
        INSERT INTO events (session_id, challenge_id, kind, round, time_ms)
        SELECT session_id, challenges.id, \(EventTable.Kind.challenge.sql), round, ?
        FROM challenges JOIN sessions ON sessions.id = session_id
        WHERE challenges.id NOT IN (SELECT challenge_id FROM events WHERE challenge_id IS NOT NULL)
        """)
    private static let isLive = "ended_ms IS NULL AND session_id = sessions.id"
    private static let countInSessions = Query(
        """
        UPDATE sessions SET
            live_tasks = (SELECT count(*) FROM tasks WHERE \(isLive)),
            aside_tasks = (SELECT count(*) FROM tasks WHERE \(isLive) AND \(TaskDelays.isAside)),
            events_waiting = (SELECT count(*) FROM events WHERE session_id = sessions.id),
            newest_event = max(newest_event, ifnull((SELECT max(id) FROM events WHERE session_id = sessions.id), 0)),
            history_count = (SELECT count(*) FROM history WHERE session_id = sessions.id)
        """)
    private static let countInGroups = Query(
        """
        UPDATE groups SET live_tasks = (SELECT count(*) FROM tasks
            WHERE group_id = groups.id AND ended_ms IS NULL AND NOT \(TaskDelays.isAside))
        """)
    private static let groupsWithoutTasks = Query(
        """
        SELECT groups.id, session_id, round FROM groups JOIN sessions ON sessions.id = session_id
        WHERE groups.live_tasks = 0 AND succeeded + failed + cancelled > 0
        """)
    private static let openRounds = Query(
        "SELECT id, newest_event FROM sessions WHERE round_open AND live_tasks = aside_tasks")
}
