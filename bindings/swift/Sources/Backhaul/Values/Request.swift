internal import CBackhaul

/// A header field of a request or a response (RFC 9110, section 5).
public struct Header: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What the engine does if a file exists at the destination. It checks this at the enqueue, and before it places the
/// file.
public enum ExistsPolicy: Hashable, Sendable {
    case fail
    /// The file is replaced atomically by rename(2). A directory is never replaced.
    case replace
    /// If the file has the given checksum and size, the task succeeds without a request. Otherwise the file is
    /// replaced. The request must have a `checksum` or an `expectedSize`.
    case skip

    var rawValue: Int32 {
        switch self {
        case .fail: Int32(BH_IF_EXISTS_FAIL)
        case .replace: Int32(BH_IF_EXISTS_REPLACE)
        case .skip: Int32(BH_IF_EXISTS_SKIP)
        }
    }
}

/// The digest of a file.
public enum Checksum: Hashable, Sendable {
    /// SHA-256, as 64 hexadecimal digits.
    case sha256(String)
    /// SHA-512, as 128 hexadecimal digits.
    case sha512(String)

    var text: String {
        switch self {
        case .sha256(let digits): "sha-256:" + digits
        case .sha512(let digits): "sha-512:" + digits
        }
    }
}

/// Which part of the request expires. When it has expired, the engine opens a challenge of the kind `.refresh`.
public enum Refresh: Int32, Hashable, Sendable {
    /// The headers expire. All tasks of a session and origin share one challenge. The host responds with
    /// `ChallengeResponse.headers`.
    case headers = 1
    /// The URL expires. Each task has its own challenge. The host responds with `ChallengeResponse.url` or `.headers`.
    case url = 2
}

/// A download or an upload.
///
/// A request with a body and without a destination is an upload. Its event has the body of the response. A request with
/// a body and a destination is a download.
public struct Request: Hashable, Sendable {
    /// An http or https URL, without user and password.
    public var url: String
    /// The absolute path at which the file is placed. Nil: the request is an upload, or the file is kept in the store
    /// until the host claims it (`Session.claim`).
    public var destination: String?
    /// The idempotency key, 1 to 255 bytes. A later request with the same key finds the same task, until the event at
    /// the end of the task's round is acknowledged.
    public var idempotencyKey: String?
    /// The header fields. They are sent only to the URL's origin, and are stored with mode 0600.
    public var headers: [Header]
    /// Bytes that each event and each listing of the task returns.
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy
    /// The priority: -100 to 100, or `Request.priorityNow`. In a session, tasks with a higher priority start first.
    public var priority: Int32
    /// Whether the task is suspended from the start, until `Session.resume` is called.
    public var startsSuspended: Bool
    /// The permission bits of the file. Nil: 0o666 without the bits of the host's umask.
    public var mode: UInt32?
    /// The HTTP method. Nil: GET without a body, PUT for a file or bytes, POST for a form.
    public var method: String?
    /// The name of a group. When the last live task of the group has ended, the event `.groupFinished` reports it.
    public var group: String?
    public var checksum: Checksum?
    /// The size of the file in bytes. The task fails with `.sizeMismatch` if the file has another size.
    public var expectedSize: UInt64?
    public var body: Body?
    public var refresh: Refresh?
    /// When the headers or the URL expire (see `refresh`), as Unix time in milliseconds. Before an attempt after this
    /// time, the engine opens a challenge. Nil: only a response with status 401 or 403 opens this challenge.
    public var expiresMilliseconds: Int64?
    /// The settings of this task, which replace those of its session. Nil: the session's settings apply.
    public var policy: Policy?
    /// Whether the file is downloaded only if it has changed on the server, since an earlier task with this flag
    /// downloaded it from this URL. The engine sends a conditional request (RFC 9110, section 13.1).
    ///
    /// If the file has not changed, the task succeeds with `httpStatus` 304, and the file stays. This property requires
    /// `.replace`.
    public var isOnlyIfChanged = false
    /// Whether the server names the file. Then `destination` is an existing directory. The name comes from
    /// Content-Disposition (RFC 6266), or else from the last segment of the URL's path. The event has the file's path.
    public var isNamedByServer = false
    /// Whether the engine ignores the header fields Repr-Digest and Content-Digest of the response (RFC 9530).
    public var ignoresDigests = false
    /// The time before which the task does not start, as Unix time in milliseconds (Apple: earliestBeginDate).
    public var earliestStartMilliseconds: Int64?
    /// The time after which no preset holds the task, not even the preset of its session, as Unix time in milliseconds.
    /// It must not be before `earliestStartMilliseconds`.
    public var latestStartMilliseconds: Int64?
    /// An upper bound of the received bytes (Apple: countOfBytesClientExpectsToReceive). The task is held while a
    /// budget has fewer bytes left. Nil: `expectedSize`; if this is also nil, the number is not known.
    public var expectedBytesReceived: UInt64?
    /// An upper bound of the sent bytes (Apple: countOfBytesClientExpectsToSend). Nil: the size of the body.
    public var expectedBytesSent: UInt64?

    /// The priority of a task that starts immediately, even if its session's limits are reached.
    public static let priorityNow = Int32(BH_PRIORITY_NOW)

    public init(
        url: String, destination: String? = nil, idempotencyKey: String? = nil, headers: [Header] = [],
        userData: [UInt8]? = nil, ifExists: ExistsPolicy = .fail, priority: Int32 = 0, startsSuspended: Bool = false,
        mode: UInt32? = nil
    ) {
        self.url = url
        self.destination = destination
        self.idempotencyKey = idempotencyKey
        self.headers = headers
        self.userData = userData
        self.ifExists = ifExists
        self.priority = priority
        self.startsSuspended = startsSuspended
        self.mode = mode
    }
}

/// The result of one request of an enqueue: a new task, or an earlier one.
public struct Enqueued: Hashable, Sendable {
    public let taskID: TaskID
    /// Whether the task is new. False: the idempotency key found an earlier task.
    public let isNew: Bool
    /// The state of the task that the key found. Nil if the task is new.
    public let state: TaskState?
    /// The id of the event that reports the end of a found task. Nil if there is no such event, or if it is
    /// acknowledged.
    public let eventID: EventID?
    /// Whether the end of the found task was acknowledged. Then no event about it will be delivered.
    public var isAcknowledged: Bool { state?.hasEnded == true && eventID == nil }

    init(_ enqueued: bh_enqueued) {
        taskID = enqueued.task_id
        isNew = Int(enqueued.disposition) == BH_ENQUEUE_NEW
        state = TaskState(rawValue: enqueued.task_state)
        eventID = nonzero(enqueued.event_id)
    }
}
