internal import BackhaulModel
internal import CBackhaul
internal import CBackhaulTables

extension bh_task_info {
    init(_ task: TaskInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_task_info>.size
        id = task.id.rawValue
        round = task.round
        state = task.state.rawValue
        reason = task.reason.rawValue
        reason_text = arena.place(task.reasonText)
        next_attempt_ms = task.nextAttemptMilliseconds
        url = arena.place(task.url)
        destination = arena.place(task.destinationPath)
        idempotency_key = arena.place(task.idempotencyKey)
        user_data = arena.place(task.userData)
        user_data_size = task.userData?.count ?? 0
        priority = task.priority
        status = (task.failure?.status ?? .ok).rawValue
        error_message = arena.place(task.failure?.message)
        http_status = task.httpStatus
        attempts = task.attempts
        offset = task.offset
        size = task.size ?? bht_size_unknown()
        bytes_per_second = task.bytesPerSecond
        enqueued_ms = task.enqueuedMilliseconds
        kind = task.kind.rawValue
        group = arena.place(task.group)
        body_sent = task.bodySent
        body_size = task.bodySize
        ended_ms = task.endedMilliseconds
        path = arena.place(task.path)
        earliest_start_ms = task.earliestStartMilliseconds ?? 0
        latest_start_ms = task.latestStartMilliseconds ?? 0
        expected_bytes_received = task.expectedBytesReceived ?? 0
        expected_bytes_sent = task.expectedBytesSent ?? 0
        constraints = task.constraints.map { arena.place(bh_constraints($0.value, in: &arena)) }
        rate_limit = task.rateLimit ?? 0
    }
}
