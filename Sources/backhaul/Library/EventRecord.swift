import CBackhaul

// Unsafe: the pointers point into a batch (a list that the library has returned), which is released after its items are
// copied.
func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

func bytes(_ pointer: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}

/// A copy of an event, which is a stored message, for example that a task has ended. The copy stays valid after the
/// batch is released.
struct EventRecord {
    let id: UInt64
    let taskID: UInt64
    let round: UInt64
    let time: Int64
    let kind: Int32
    let state: Int32
    let error: ErrorRecord
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
    let headers: [(name: String, value: String)]
    let errorBody: [UInt8]?
    /// The open challenge (a demand for a credential, new headers or a new URL) of the event. Nil for other kinds of
    /// events.
    let challenge: ChallengeRecord?
    let group: String?
    let groupSucceeded: UInt64
    let groupFailed: UInt64
    let groupCancelled: UInt64
    let checksum: String?
    let bytesSent: UInt64
    let responseBody: [UInt8]?
    let taskKind: Int32
    /// The identifier of the activity (repeated work) that is due.
    let activity: String?

    init(_ event: bh_event) {
        id = event.id
        taskID = event.task_id
        round = event.round
        time = event.time_ms
        kind = event.kind
        state = event.task_state
        error = ErrorRecord(
            status: event.status, domain: event.error_domain, detail: event.error_detail,
            message: text(event.error_message))
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

    /// Where a successful download found its file, if it received no new file.
    var source: FileSource? {
        FileSource(
            state: state, isUpload: Int(taskKind) == BH_TASK_KIND_UPLOAD, httpStatus: httpStatus, attempts: attempts)
    }

    /// The event as JSON. A member that this kind of event does not have is null.
    var json: JSON {
        let end = isEndOfTask
        func ofTask<Number: BinaryInteger>(_ value: Number) -> JSON { end ? .number(value) : .null }
        func ofGroup(_ value: UInt64) -> JSON { isEndOfGroup ? .number(value) : .null }
        return .record(of: bh_event.self, [
            ("id", .number(id)), ("time_ms", .integer(time)), ("round", .number(round)), ("task_id", ofTask(taskID)),
            ("kind", .string(Names.eventKind(kind))), ("task_kind", end ? .string(Names.taskKind(taskKind)) : .null),
            ("task_state", end ? .string(Names.taskState(state)) : .null),
            ("status", end ? .status(error.status) : .null), ("error_domain", error.domainJSON),
            ("http_status", .number(unlessZero: httpStatus)), ("error_detail", error.detailJSON),
            ("error_message", .optional(error.sentence)), ("url", end ? .string(url) : .null),
            ("final_url", .optional(finalURL)), ("path", .optional(path)), ("media_type", .optional(mediaType)),
            ("checksum", .optional(checksum)), ("idempotency_key", .optional(key)), ("user_data", .bytes(userData)),
            ("size", ofTask(size)), ("bytes_received", ofTask(bytesReceived)), ("bytes_sent", ofTask(bytesSent)),
            ("headers", end ? .array(headers.map(EventRecord.json)) : .null), ("error_body", .bytes(errorBody)),
            ("response_body", .bytes(responseBody)), ("attempts", ofTask(attempts)),
            ("challenge", challenge?.json ?? .null), ("group", .optional(group)),
            ("group_succeeded", ofGroup(groupSucceeded)), ("group_failed", ofGroup(groupFailed)),
            ("group_cancelled", ofGroup(groupCancelled)), ("activity", .optional(activity)),
        ])
    }

    private static func json(_ header: (name: String, value: String)) -> JSON {
        .record(of: bh_header.self, [("name", .string(header.name)), ("value", .string(header.value))])
    }
}
