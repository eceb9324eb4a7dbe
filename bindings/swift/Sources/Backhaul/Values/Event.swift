internal import CBackhaul

/// A stored message for the *host*. The *engine* delivers the event repeatedly until the host acknowledges it.
public enum Event: Sendable, Identifiable {
    /// A task has ended. Each task has one event of this kind.
    case taskEnded(TaskEnding)
    /// A round has ended (see `RoundEnding`): all tasks of the session have ended. If a task is added before the host
    /// acknowledges this event, the event is withdrawn. Another one follows when that task has ended.
    case sessionFinished(RoundEnding)
    /// A challenge was opened: a demand for a credential, new headers or a new URL. After the host has acknowledged the
    /// event, the challenge stays open.
    case challenge(ChallengeEvent)
    /// All tasks of a group (see `Request.group`) have ended.
    case groupFinished(GroupEnding)
    /// An *activity* is due. The activity has no request that the engine could enqueue, so the host does the work, and
    /// then acknowledges the event.
    case activity(ActivityEvent)
    /// An event whose kind is from a newer version of the library. Acknowledge it like any other event.
    case unknown(id: EventID, kind: Int32)

    /// The id of the event.
    public var id: EventID {
        switch self {
        // Each event about the end of a task has an id. 0 is the id of no event.
        case .taskEnded(let ending): ending.eventID ?? EventID(rawValue: 0)
        case .sessionFinished(let ending): ending.id
        case .challenge(let event): event.id
        case .groupFinished(let ending): ending.id
        case .activity(let event): event.id
        case .unknown(let id, _): id
        }
    }
}

extension Event {
    /// Whether the event reports that all tasks of a session or of a group have ended.
    var isEndOfTasks: Bool {
        switch self {
        case .sessionFinished, .groupFinished: true
        default: false
        }
    }
}

/// The end of a round. A round begins when a task is added to a session without unfinished tasks. The round ends when
/// all tasks of the session have ended.
public struct RoundEnding: Hashable, Sendable, Identifiable {
    /// The id of the event.
    public let id: EventID
    /// The number of the round that has ended.
    public let round: UInt64
    /// When the event was stored, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
}

/// The end of a group, with the numbers of tasks that succeeded, failed or were cancelled. If a group gets new tasks
/// after its end, the group ends again later. The later end counts only the tasks that have ended since the previous
/// end.
public struct GroupEnding: Hashable, Sendable, Identifiable {
    /// The id of the event.
    public let id: EventID
    /// The number of the round in which the group ended.
    public let round: UInt64
    /// The name of the group.
    public let group: String
    /// The number of tasks that succeeded.
    public let succeeded: UInt64
    /// The number of tasks that failed.
    public let failed: UInt64
    /// The number of tasks that were cancelled.
    public let cancelled: UInt64
    /// When the event was stored, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
}

/// An activity without a request is due.
public struct ActivityEvent: Hashable, Sendable, Identifiable {
    /// The id of the event.
    public let id: EventID
    /// The number of the round in which the event was stored.
    public let round: UInt64
    /// The activity's identifier.
    public let activity: String
    /// When the event was stored, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
}

/// A challenge was opened.
public struct ChallengeEvent: Hashable, Sendable, Identifiable {
    /// The id of the event.
    public let id: EventID
    /// The number of the round in which the event was stored.
    public let round: UInt64
    /// When the event was stored, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
    /// The open challenge. When the challenge is closed, the engine removes this event.
    public let challenge: Challenge?
}

/// The end of a task, and its result.
public struct TaskEnding: Sendable, Identifiable {
    /// The result of a task.
    public enum Outcome: Hashable, Sendable {
        /// The task succeeded. The complete and synced file of a download is at `path`. For an upload, `path` is empty.
        case succeeded(path: String)
        /// The task failed for this reason.
        case failed(BackhaulError)
        /// The task was cancelled.
        case cancelled
    }

    /// The id of the event that reports this ending. Nil if the host has acknowledged the event: then this ending comes
    /// from the history, which has no headers, bodies, checksum and numbers of sent and received bytes.
    public let eventID: EventID?
    /// The task that has ended.
    public let taskID: TaskID
    /// The number of the round in which the task ended.
    public let round: UInt64
    /// When the event was stored, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
    /// Whether the task succeeded, and why not.
    public let outcome: Outcome
    /// Why the task did not succeed. For a cancelled task, the status is `.cancelled`. Nil if the task succeeded.
    public let error: BackhaulError?
    /// If the task did not succeed and had a body with `Body.Source.consume`: the path of the body's file, until the
    /// event is acknowledged. Otherwise nil.
    public let bodyPath: String?
    /// The URL of the request.
    public let url: String
    /// The URL after redirects. Nil if there was no response.
    public let finalURL: String?
    /// The Content-Type of the last response. Nil if it had none.
    public let mediaType: String?
    /// The idempotency key of the request.
    public let idempotencyKey: String?
    /// The bytes that the host has stored with the task.
    public let userData: [UInt8]?
    /// The status of the last response. Nil if there was no response.
    public let httpStatus: Int?
    /// The header fields of the last response, at most 16 KiB. Important fields, such as ETag, Last-Modified and
    /// Content-Type, come first.
    public let headers: [Header]
    /// The number of attempts. An attempt is one run of the task.
    public let attempts: Int
    /// The size of the file in bytes.
    public let size: UInt64
    /// The number of body bytes that were received in all attempts together.
    public let bytesReceived: UInt64
    /// If the response was not accepted: the first 4,096 bytes of its body. Otherwise nil.
    public let errorBody: [UInt8]?
    /// Whether the task was a download or an upload.
    public let kind: TaskKind
    /// The name of the task's group.
    public let group: String?
    /// The digest of the file, as "sha-256:…" or "sha-512:…". Nil if the engine did not compute it.
    public let checksum: String?
    /// The number of body bytes that were sent in all attempts together.
    public let bytesSent: UInt64
    /// For a successful upload: the first 65,536 bytes of the response's body, or what arrived of them within 30
    /// seconds. Otherwise nil.
    public let responseBody: [UInt8]?

    /// The id of the task. A task has only one ending.
    public var id: TaskID { taskID }

    /// The path of the downloaded file. Nil if there is no file.
    public var path: String? {
        if case .succeeded(let path) = outcome, !path.isEmpty { path } else { nil }
    }
}

extension Event {
    init(_ event: bh_event) {
        let id = EventID(rawValue: event.id)
        switch Int(event.kind) {
        case BH_EVENT_TASK_ENDED: self = .taskEnded(TaskEnding(event))
        case BH_EVENT_SESSION_FINISHED:
            self = .sessionFinished(RoundEnding(id: id, round: event.round, timeMilliseconds: event.time_ms))
        case BH_EVENT_CHALLENGE:
            self = .challenge(
                ChallengeEvent(
                    id: id, round: event.round, timeMilliseconds: event.time_ms,
                    challenge: event.challenge.map { Challenge($0.pointee) }))
        case BH_EVENT_GROUP_FINISHED:
            self = .groupFinished(
                GroupEnding(
                    id: id, round: event.round, group: text(event.group) ?? "",
                    succeeded: event.group_succeeded, failed: event.group_failed, cancelled: event.group_cancelled,
                    timeMilliseconds: event.time_ms))
        case BH_EVENT_ACTIVITY:
            self = .activity(
                ActivityEvent(
                    id: id, round: event.round, activity: text(event.activity) ?? "",
                    timeMilliseconds: event.time_ms))
        default: self = .unknown(id: id, kind: event.kind)
        }
    }
}

extension TaskEnding {
    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    fileprivate init(_ event: bh_event) {
        eventID = EventID(rawValue: event.id)
        taskID = TaskID(rawValue: event.task_id)
        round = event.round
        timeMilliseconds = event.time_ms
        let error = BackhaulError(
            Int(event.status), domain: event.error_domain, detail: event.error_detail,
            message: text(event.error_message))
        switch Int(event.task_state) {
        case BH_TASK_SUCCEEDED: outcome = .succeeded(path: text(event.path) ?? "")
        case BH_TASK_CANCELLED: outcome = .cancelled
        default: outcome = .failed(error)
        }
        let isSuccess = Int(event.task_state) == BH_TASK_SUCCEEDED
        self.error = isSuccess ? nil : error
        bodyPath = isSuccess ? nil : text(event.path)
        url = text(event.url) ?? ""
        finalURL = text(event.final_url)
        mediaType = text(event.media_type)
        idempotencyKey = text(event.idempotency_key)
        userData = bytes(event.user_data, event.user_data_size)
        httpStatus = event.http_status == 0 ? nil : Int(event.http_status)
        headers = Backhaul.headers(event.headers, event.header_count)
        attempts = Int(event.attempts)
        size = event.size
        bytesReceived = event.bytes_received
        errorBody = bytes(event.error_body, event.error_body_size)
        kind = TaskKind(rawValue: event.task_kind) ?? .download
        group = text(event.group)
        checksum = text(event.checksum)
        bytesSent = event.bytes_sent
        responseBody = bytes(event.response_body, event.response_body_size)
    }
}

extension TaskEnding {
    /// Makes the ending of an ended task in a listing, for example of the history.
    package init(_ task: TaskInfo) {
        eventID = nil
        taskID = task.id
        round = task.round
        timeMilliseconds = task.endedMilliseconds ?? 0
        switch task.state {
        case .succeeded: outcome = .succeeded(path: task.path ?? "")
        case .cancelled: outcome = .cancelled
        default: outcome = .failed(task.error ?? BackhaulError(BH_INTERNAL))
        }
        error = task.state == .succeeded ? nil : task.error
        url = task.url
        (finalURL, mediaType, checksum, bodyPath) = (nil, nil, nil, nil)
        idempotencyKey = task.idempotencyKey
        userData = task.userData
        httpStatus = task.httpStatus
        headers = []
        attempts = task.attempts
        size = task.size ?? task.offset
        (bytesReceived, bytesSent) = (0, 0)
        (errorBody, responseBody) = (nil, nil)
        kind = task.kind
        group = task.group
    }
}
