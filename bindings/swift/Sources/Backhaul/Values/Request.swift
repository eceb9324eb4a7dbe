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

/// What the engine does with an existing file that has the destination's name, at the enqueue and when the download is
/// finished.
public enum ExistsPolicy: Hashable, Sendable {
    case fail
    /// The file is replaced atomically by rename(2); a directory is never replaced.
    case replace
    /// If the file has the given checksum and size, the task succeeds without a request. Otherwise the file is
    /// replaced. Requires `checksum` or `expectedSize`.
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

/// Which part of the request expires. The host gets a challenge of the kind `.refresh` for a new one.
public enum Refresh: Int32, Hashable, Sendable {
    /// The headers: one challenge for all tasks of the session and origin, for `ChallengeResponse.headers`.
    case headers = 1
    /// The URL: one challenge for each task, for `ChallengeResponse.url` or `.headers`.
    case url = 2
}

/// A download or an upload.
///
/// A request with a body and without a destination is an upload, and its event has the response's body. A request with
/// both is a download with that method.
public struct Request: Hashable, Sendable {
    /// An http or https URL, without user and password.
    public var url: String
    /// The absolute path of the file to make. Nil: the file is kept in the store until it is claimed (`Session.claim`),
    /// or the request is an upload.
    public var destination: String?
    /// A key of 1 to 255 bytes. If the session has used the key, the request finds the earlier task, until the event at
    /// the end of the round is acknowledged.
    public var idempotencyKey: String?
    /// Header fields, which are sent to the URL's origin only, and stored with mode 0600.
    public var headers: [Header]
    /// Any bytes, which are returned with events and lists.
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy
    /// The priority: -100 to 100, or `Request.priorityNow`. Within a session, tasks with a higher priority start first.
    public var priority: Int32
    /// Whether the task is suspended until `Session.resume`.
    public var startsSuspended: Bool
    /// The permission bits of the file; nil: 0o666 less the host's umask.
    public var mode: UInt32?
    /// The HTTP method. Nil: GET without a body, PUT for a file or bytes, POST for a form.
    public var method: String?
    /// The name of a group. When its last live task has ended, there is one event `.groupFinished`.
    public var group: String?
    public var checksum: Checksum?
    /// The size of the file in bytes. If it has another size, the task fails with `.sizeMismatch`.
    public var expectedSize: UInt64?
    public var body: Body?
    public var refresh: Refresh?
    /// Until when the headers or the URL (see `refresh`) are valid, as Unix time in milliseconds. Before a later
    /// attempt the host gets a challenge. Nil: not known; it gets one after a 401 or 403.
    public var expiresMilliseconds: Int64?
    /// Settings of this task in place of its session's; nil: the session's settings.
    public var policy: Policy?
    /// Whether to send a conditional request (RFC 9110, section 13.1), for a file that an earlier task with this flag
    /// downloaded from this URL.
    ///
    /// If the server's representation is the same, the task succeeds with `httpStatus` 304 and the file stays. Requires
    /// `.replace`.
    public var isOnlyIfChanged = false
    /// Whether the server names the file. `destination` is then an existing directory. The name comes from
    /// Content-Disposition (RFC 6266), else from the last segment of the URL's path. The event has the file's path.
    public var isNamedByServer = false
    /// Whether Repr-Digest and Content-Digest (RFC 9530) are not verified.
    public var ignoresDigests = false
    /// The time before which the task does not start, as Unix time in milliseconds (Apple: earliestBeginDate).
    public var earliestStartMilliseconds: Int64?
    /// The time after which presets do not hold the task, also not its session's, as Unix time in milliseconds. It is
    /// not before `earliestStartMilliseconds`.
    public var latestStartMilliseconds: Int64?
    /// An upper bound for the received bytes. The task is held when a budget has less left (Apple:
    /// countOfBytesClientExpectsToReceive). Nil: `expectedSize`, or not known.
    public var expectedBytesReceived: UInt64?
    /// The same for the sent body (Apple: countOfBytesClientExpectsToSend). Nil: its size.
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

/// The task of one request.
public struct Enqueued: Hashable, Sendable {
    public let taskID: TaskID
    /// Whether the task is new. False: the idempotency key found an earlier task.
    public let isNew: Bool
    /// The state of the task that the key found; nil if the task is new.
    public let state: TaskState?
    /// The event at the end of the task that the key found, until it is acknowledged.
    public let eventID: EventID?
    /// Whether the task has ended and its event was acknowledged. The event is then not delivered again.
    public var isAcknowledged: Bool { state?.hasEnded == true && eventID == nil }

    init(_ enqueued: bh_enqueued) {
        taskID = enqueued.task_id
        isNew = Int(enqueued.disposition) == BH_ENQUEUE_NEW
        state = TaskState(rawValue: enqueued.task_state)
        eventID = nonzero(enqueued.event_id)
    }
}
