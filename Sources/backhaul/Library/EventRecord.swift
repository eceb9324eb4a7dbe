import CBackhaul

// Unsafe: pointers into a batch, which lives while its items are copied.
func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

func bytes(_ pointer: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}

/// A copy of an event, for as long as it is needed.
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
    let group: String?
    let groupSucceeded: UInt64
    let groupFailed: UInt64
    let groupCancelled: UInt64
    let checksum: String?
    let bytesSent: UInt64
    let responseBody: [UInt8]?
    let taskKind: Int32
    /// The identifier of the activity that is due.
    let activity: String?

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
        group = text(event.group)
        groupSucceeded = event.group_succeeded
        groupFailed = event.group_failed
        groupCancelled = event.group_cancelled
        checksum = text(event.checksum)
        bytesSent = event.bytes_sent
        responseBody = bytes(event.response_body, event.response_body_size)
        taskKind = event.task_kind
        activity = text(event.activity)
    }

    var isEndOfTask: Bool { Int(kind) == BH_EVENT_TASK_ENDED }
    var isEndOfRound: Bool { Int(kind) == BH_EVENT_SESSION_FINISHED }
    var isEndOfGroup: Bool { Int(kind) == BH_EVENT_GROUP_FINISHED }
    var isChallenge: Bool { Int(kind) == BH_EVENT_CHALLENGE }
    var isActivity: Bool { Int(kind) == BH_EVENT_ACTIVITY }
    var succeeded: Bool { Int(state) == BH_TASK_SUCCEEDED }

    var json: JSON {
        let common: [(String, JSON)] = [
            ("id", .unsigned(id)), ("kind", .string(Names.eventKind(kind))), ("round", .unsigned(round)),
            ("time_ms", .integer(time)),
        ]
        if isChallenge { return .object(common + [("challenge", challenge?.json ?? .null)]) }
        if isActivity { return .object(common + [("activity", .optional(activity))]) }
        if isEndOfGroup {
            return .object(
                common + [
                    ("group", .optional(group)), ("succeeded", .unsigned(groupSucceeded)),
                    ("failed", .unsigned(groupFailed)), ("cancelled", .unsigned(groupCancelled)),
                ])
        }
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
                ), ("error_body", .bytes(errorBody)), ("task_kind", .string(Names.taskKind(taskKind))),
                ("group", .optional(group)), ("checksum", .optional(checksum)), ("bytes_sent", .unsigned(bytesSent)),
                ("response_body", .bytes(responseBody)),
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
