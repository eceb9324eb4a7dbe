import CBackhaul

/// A copy of a task as a listing has it.
struct TaskRecord {
    let id: UInt64
    let round: UInt64
    let state: Int32
    let reason: Int32
    let reasonText: String?
    let nextAttempt: Int64
    let url: String
    let destination: String?
    let key: String?
    let userData: [UInt8]?
    let priority: Int32
    let status: bh_status
    let errorMessage: String?
    let httpStatus: Int32
    let attempts: UInt32
    let offset: UInt64
    /// Nil: no answer has told it yet.
    let size: UInt64?
    let rate: UInt64
    let enqueued: Int64
    let kind: Int32
    let group: String?
    let bodySent: UInt64
    let bodySize: UInt64
    let ended: Int64
    let path: String?
    /// Unix times in milliseconds, or 0.
    let earliestStart: Int64
    let latestStart: Int64
    let expectedReceived: UInt64
    let expectedSent: UInt64
    /// What it states for itself; nil: nothing.
    let constraints: ConstraintsRecord?

    init(_ task: bh_task_info) {
        id = task.id
        round = task.round
        state = task.state
        reason = task.reason
        reasonText = text(task.reason_text)
        nextAttempt = task.next_attempt_ms
        url = text(task.url) ?? ""
        destination = text(task.destination)
        key = text(task.idempotency_key)
        userData = bytes(task.user_data, task.user_data_size)
        priority = task.priority
        status = task.status
        errorMessage = text(task.error_message)
        httpStatus = task.http_status
        attempts = task.attempts
        offset = task.offset
        size = task.size == UInt64.max ? nil : task.size
        rate = task.bytes_per_second
        enqueued = task.enqueued_ms
        kind = task.kind
        group = text(task.group)
        bodySent = task.body_sent
        bodySize = task.body_size
        ended = task.ended_ms
        path = text(task.path)
        earliestStart = task.earliest_start_ms
        latestStart = task.latest_start_ms
        expectedReceived = task.expected_bytes_received
        expectedSent = task.expected_bytes_sent
        constraints = task.constraints.map { ConstraintsRecord($0.pointee) }
    }

    var isUpload: Bool { Int(kind) == BH_TASK_KIND_UPLOAD }

    /// Bytes of the file that are here, or of the body that are there.
    var done: UInt64 { isUpload ? bodySent : offset }
    /// Nil: no answer has told it yet.
    var total: UInt64? { isUpload ? bodySize : size }

    var hasEnded: Bool { Int(state) >= BH_TASK_SUCCEEDED }

    var json: JSON {
        .object([
            ("id", .unsigned(id)), ("round", .unsigned(round)), ("state", .string(Names.taskState(state))),
            ("reason", Int(reason) == BH_REASON_NONE ? .null : .string(Names.reason(reason))),
            ("reason_text", .optional(reasonText)),
            ("next_attempt_ms", nextAttempt == 0 ? .null : .integer(nextAttempt)), ("url", .string(url)),
            ("destination", .optional(destination)), ("idempotency_key", .optional(key)),
            ("user_data", .bytes(userData)), ("priority", .integer(Int64(priority))),
            ("status", .string(String(cString: bh_status_name(status)))), ("error_message", .optional(errorMessage)),
            ("http_status", httpStatus == 0 ? .null : .integer(Int64(httpStatus))),
            ("attempts", .unsigned(UInt64(attempts))), ("offset", .unsigned(offset)),
            ("size", size.map { .unsigned($0) } ?? .null), ("bytes_per_second", .unsigned(rate)),
            ("enqueued_ms", .integer(enqueued)), ("kind", .string(Names.taskKind(kind))), ("group", .optional(group)),
            ("body_sent", .unsigned(bodySent)), ("body_size", .unsigned(bodySize)),
            ("ended_ms", ended == 0 ? .null : .integer(ended)), ("path", .optional(path)),
            ("earliest_start_ms", earliestStart == 0 ? .null : .integer(earliestStart)),
            ("latest_start_ms", latestStart == 0 ? .null : .integer(latestStart)),
            ("expected_bytes_received", expectedReceived == 0 ? .null : .unsigned(expectedReceived)),
            ("expected_bytes_sent", expectedSent == 0 ? .null : .unsigned(expectedSent)),
            ("constraints", constraints.map { .object($0.members) } ?? .null),
        ])
    }
}
