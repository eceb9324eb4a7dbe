public import BackhaulModel

/// Single tasks that wait for a time, although others of their lane may run.
extension Transaction {
    /// Those of them that wait for their turn wait until then by the boot clock.
    public func delay(_ tasks: [TaskID], until due: Int64, for reason: WaitReason) throws(Failure) {
        for task in tasks {
            try connection.run(Self.delay, .id(task), .integer(due), .number(reason.rawValue))
        }
    }

    /// All that wait for a time for this reason.
    public func delayed(for reason: WaitReason) throws(Failure) -> [DelayedTask] {
        try delayed(for: reason, after: nil, limit: .max)
    }

    /// Judges those that wait for this reason anew, in the order of their times, some thousands `after` the last of the
    /// batch before. `due`: until when by the boot clock the task waits on; nil: it waits for its turn. One that waits
    /// for longer than before may be judged twice, and has to be told the same.
    public func judgeDelayed(
        for reason: WaitReason, after last: DelayedTask? = nil, due: (DelayedTask) -> Int64?
    ) throws(Failure) -> JudgedDelays {
        var judged = JudgedDelays()
        let tasks = try delayed(for: reason, after: last, limit: Self.batch)
        if tasks.count == Int(Self.batch) { judged.last = tasks.last }
        for task in tasks {
            if let time = due(task) {
                judged.next = min(judged.next ?? .max, time)
                if time != task.due { try connection.run(Self.move, .id(task.task), .integer(time)) }
            } else {
                judged.lanes.insert(task.lane)
                try connection.run(Self.release, .id(task.task))
            }
        }
        return judged
    }

    private func delayed(
        for reason: WaitReason, after last: DelayedTask?, limit: Int64
    ) throws(Failure) -> [DelayedTask] {
        try connection.all(
            Self.select, .number(reason.rawValue), .integer(last?.due ?? 0), last.map { .id($0.task) } ?? .integer(0),
            .integer(limit)
        ) { row throws(Failure) in
            let (task, session, lane, due) = (row.taskID(), row.sessionID(), row.laneID(), row.integer())
            let (received, sent) = (row.optionalBits(), row.optionalBits())
            let stated = DeferralDecision.stated(received: received, sent: sent, offset: row.bits())
            return DelayedTask(task: task, session: session, lane: lane, due: due, statedBytes: stated)
        }
    }

    /// When the first of those that wait for this reason began to, in Unix milliseconds, of each session.
    public func delaysBegan(for reason: WaitReason) throws(Failure) -> [SessionID: Int64] {
        let found = try connection.all(Self.began, .number(reason.rawValue)) { row throws(Failure) in
            (session: row.sessionID(), began: row.integer())
        }
        return Dictionary(found.map { ($0.session, $0.began) }, uniquingKeysWith: min)
    }

    /// A few tens of milliseconds.
    private static let batch: Int64 = 4_096
    private static let delay = Query(
        "UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3 WHERE id = ?1 AND state = 1 AND due_boot_ms IS NULL")
    // The index of delayed tasks is the shortest way: few have a due time.
    private static let select = Query(
        """
        SELECT tasks.id, session_id, lane_id, due_boot_ms, coalesce(expected_bytes_received, expected_size),
            coalesce(expected_bytes_sent, body_size), coalesce(synced_offset, 0)
        FROM tasks INDEXED BY tasks_by_due CROSS JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        WHERE due_boot_ms >= ?2 AND (due_boot_ms > ?2 OR tasks.id > ?3) AND due_reason = ?1
        ORDER BY due_boot_ms, tasks.id LIMIT ?4
        """)
    private static let move = Query("UPDATE tasks SET due_boot_ms = ?2 WHERE id = ?1")
    private static let release = Query("UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE id = ?1")
    private static let began = Query(
        """
        SELECT waits.session_id, began_ms FROM waits INDEXED BY waits_that_last CROSS JOIN tasks ON tasks.id = task_id
        WHERE waits.ended_ms IS NULL AND reason = ?1 AND due_boot_ms >= 0 AND due_reason = ?1
        """)
}
