import CBackhaul

/// A copy of a task from a listing.
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
    /// The size of the file in bytes. Nil while no response has stated the size.
    let size: UInt64?
    let rate: UInt64
    let enqueued: Int64
    let kind: Int32
    let group: String?
    let bodySent: UInt64
    let bodySize: UInt64
    let ended: Int64
    let path: String?
    /// The earliest start in Unix milliseconds. 0 if the task has no earliest start. `latestStart` has the same form.
    let earliestStart: Int64
    let latestStart: Int64
    let expectedReceived: UInt64
    let expectedSent: UInt64
    /// The constraints (demands on the system) of the task itself. Nil if the task has only the constraints of its
    /// session.
    let constraints: ConstraintsRecord?

    init(_ task: bh_task_info) {
        id = task.id
        round = task.round
        state = task.state
        reason = task.reason
        reasonText = text(task.reason_text).map(OptionNaming.spoken)
        nextAttempt = task.next_attempt_ms
        url = text(task.url) ?? ""
        destination = text(task.destination)
        key = text(task.idempotency_key)
        userData = bytes(task.user_data, task.user_data_size)
        priority = task.priority
        status = task.status
        errorMessage = text(task.error_message).map(OptionNaming.spoken)
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

    /// The received bytes of a download, or the sent bytes of an upload.
    var done: UInt64 { isUpload ? bodySent : offset }
    /// The size of the file or body in bytes. Nil if the size is not known yet.
    var total: UInt64? { isUpload ? bodySize : size }

    var hasEnded: Bool { Int(state) >= BH_TASK_SUCCEEDED }

    /// Where a successful download found its file, if it received no new file.
    var source: FileSource? {
        FileSource(state: state, isUpload: isUpload, httpStatus: httpStatus, attempts: attempts)
    }

    var json: JSON {
        .record(of: bh_task_info.self, [
            ("id", .number(id)), ("round", .number(round)), ("kind", .string(Names.taskKind(kind))),
            ("state", .string(Names.taskState(state))),
            ("reason", Int(reason) == BH_REASON_NONE ? .null : .string(Names.reason(reason))),
            ("status", .status(status)), ("reason_text", .optional(reasonText)),
            ("error_message", .optional(errorMessage)), ("next_attempt_ms", .number(unlessZero: nextAttempt)),
            ("url", .string(url)), ("destination", .optional(destination)), ("path", .optional(path)),
            ("idempotency_key", .optional(key)), ("group", .optional(group)), ("user_data", .bytes(userData)),
            ("priority", .number(priority)), ("http_status", .number(unlessZero: httpStatus)),
            ("attempts", .number(attempts)), ("offset", .number(offset)),
            ("size", size.map { .number($0) } ?? .null), ("body_sent", .number(bodySent)),
            ("body_size", .number(bodySize)), ("bytes_per_second", .number(rate)), ("enqueued_ms", .integer(enqueued)),
            ("ended_ms", .number(unlessZero: ended)), ("earliest_start_ms", .number(unlessZero: earliestStart)),
            ("latest_start_ms", .number(unlessZero: latestStart)),
            ("expected_bytes_received", .number(unlessZero: expectedReceived)),
            ("expected_bytes_sent", .number(unlessZero: expectedSent)), ("constraints", constraints?.json ?? .null),
        ])
    }
}
