import CBackhaul

/// Copies of what the library lists, for as long as they are needed.

// Unsafe: pointers into a batch, which lives while its items are copied.
func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

func bytes(_ pointer: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}

struct EventRecord {
    let id: UInt64
    let taskID: UInt64
    let round: UInt64
    let time: Int64
    let kind: Int32
    let state: Int32
    let status: bh_status
    let errorDomain: Int32
    let errorDetail: Int64
    let errorMessage: String?
    let url: String
    let finalURL: String?
    let path: String?
    let mediaType: String?
    let key: String?
    let httpStatus: Int32
    let attempts: UInt32
    let size: UInt64
    let bytesReceived: UInt64
    let userData: [UInt8]?
    let headers: [(String, String)]
    let errorBody: [UInt8]?
    /// Nil when it was answered meanwhile.
    let challenge: ChallengeRecord?

    init(_ event: bh_event) {
        id = event.id
        taskID = event.task_id
        round = event.round
        time = event.time_ms
        kind = event.kind
        state = event.task_state
        status = event.status
        errorDomain = event.error_domain
        errorDetail = event.error_detail
        errorMessage = text(event.error_message)
        url = text(event.url) ?? ""
        finalURL = text(event.final_url)
        path = text(event.path)
        mediaType = text(event.media_type)
        key = text(event.idempotency_key)
        httpStatus = event.http_status
        attempts = event.attempts
        size = event.size
        bytesReceived = event.bytes_received
        userData = bytes(event.user_data, event.user_data_size)
        headers = UnsafeBufferPointer(start: event.headers, count: event.headers == nil ? 0 : event.header_count).map {
            (text($0.name) ?? "", text($0.value) ?? "")
        }
        errorBody = bytes(event.error_body, event.error_body_size)
        challenge = event.challenge.map { ChallengeRecord($0.pointee) }
    }

    var isEndOfTask: Bool { Int(kind) == BH_EVENT_TASK_ENDED }
    var isEndOfRound: Bool { Int(kind) == BH_EVENT_SESSION_FINISHED }
    var isChallenge: Bool { Int(kind) == BH_EVENT_CHALLENGE }
    var succeeded: Bool { Int(state) == BH_TASK_SUCCEEDED }

    var json: JSON {
        let common: [(String, JSON)] = [
            ("id", .unsigned(id)), ("kind", .string(Names.eventKind(kind))), ("round", .unsigned(round)),
            ("time_ms", .integer(time)),
        ]
        if isChallenge { return .object(common + [("challenge", challenge?.json ?? .null)]) }
        guard isEndOfTask else { return .object(common) }
        return .object(
            common + [
                ("task_id", .unsigned(taskID)), ("state", .string(Names.taskState(state))),
                ("status", .string(String(cString: bh_status_name(status)))),
                ("error", errorJSON), ("url", .string(url)), ("final_url", .optional(finalURL)),
                ("path", .optional(path)), ("media_type", .optional(mediaType)), ("idempotency_key", .optional(key)),
                ("http_status", httpStatus == 0 ? .null : .integer(Int64(httpStatus))),
                ("attempts", .unsigned(UInt64(attempts))), ("size", .unsigned(size)),
                ("bytes_received", .unsigned(bytesReceived)), ("user_data", .bytes(userData)),
                (
                    "headers",
                    .array(headers.map { .object([("name", .string($0.0)), ("value", .string($0.1))]) })
                ), ("error_body", .bytes(errorBody)),
            ])
    }

    private var errorJSON: JSON {
        guard Int(status) != BH_OK else { return .null }
        return .object([
            ("domain", .string(Names.domain(errorDomain))), ("detail", .integer(errorDetail)),
            ("message", .string(errorMessage ?? String(cString: bh_status_text(status)))),
        ])
    }
}

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

    init(_ task: bh_task) {
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
    }

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
            ("enqueued_ms", .integer(enqueued)),
        ])
    }
}
