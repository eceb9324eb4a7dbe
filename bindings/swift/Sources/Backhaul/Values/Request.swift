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

/// What happens to a file that has the destination's name, at the enqueue and when the download is finished.
public enum ExistsPolicy: Hashable, Sendable {
    case fail
    /// Replaced atomically by rename(2); a directory is never replaced.
    case replace
    /// Requires `checksum` or `expectedSize`. If the file matches those given, the task succeeds without a request.
    /// Otherwise the file is replaced.
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
    /// 64 hexadecimal digits.
    case sha256(String)
    /// 128 hexadecimal digits.
    case sha512(String)

    var text: String {
        switch self {
        case .sha256(let digits): "sha-256:" + digits
        case .sha512(let digits): "sha-512:" + digits
        }
    }
}

/// What expires, and what the host is asked for then, by a challenge of the kind `.refresh`.
public enum Refresh: Int32, Hashable, Sendable {
    /// Headers: one challenge for all tasks of the session and origin. Headers respond.
    case headers = 1
    /// The URL: one challenge for each task. A URL or headers respond.
    case url = 2
}

/// A download or an upload. A request with a body and without a destination is an upload, whose event has the
/// response's body. One with both is a download with that method.
public struct Request: Hashable, Sendable {
    /// http or https, without user and password.
    public var url: String
    /// Absolute path of the file to make; nil: kept in the store until it is claimed (`Session.claim`), or an upload.
    public var destination: String?
    /// 1 to 255 bytes. A request with a used key finds the earlier task, until the event at the end of the round is
    /// acknowledged.
    public var idempotencyKey: String?
    /// Sent to the URL's origin only; stored with mode 0600.
    public var headers: [Header]
    /// Any bytes, which come back with events and lists.
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy
    /// Higher ones start first within the session; -100 to 100, or `Request.priorityNow`.
    public var priority: Int32
    /// Waits for `Session.resume`.
    public var startsSuspended: Bool
    /// Permission bits of the file; nil: 0o666 less the host's umask.
    public var mode: UInt32?
    /// Nil: GET, with a file or bytes PUT, with a form POST.
    public var method: String?
    /// When the last live task of a group has ended there is one event: `.groupFinished`.
    public var group: String?
    public var checksum: Checksum?
    /// Bytes of the file, else `.sizeMismatch`.
    public var expectedSize: UInt64?
    public var body: Body?
    public var refresh: Refresh?
    /// Unix time in milliseconds until when the headers or URL that `refresh` names are valid. Nil: not known; the host
    /// is asked at a 401 or 403.
    public var expiresMilliseconds: Int64?
    /// How it differs from its session. Nil: as the session's configuration says.
    public var policy: Policy?
    /// A conditional request (RFC 9110, section 13.1), for a file that an earlier task with this flag fetched from this
    /// URL. If the server's representation is the same, the task succeeds with `httpStatus` 304. Requires `.replace`.
    public var isOnlyIfChanged = false
    /// `destination` is an existing directory. The file's name is that of Content-Disposition (RFC 6266), else the
    /// URL's last part. The event has the path.
    public var isNamedByServer = false
    /// Repr-Digest and Content-Digest (RFC 9530) are not verified.
    public var ignoresDigests = false
    /// Unix time in milliseconds; the task does not start before (Apple: earliestBeginDate).
    public var earliestStartMilliseconds: Int64?
    /// Unix time in milliseconds; from then on presets do not hold the task, those of its session included. Not before
    /// `earliestStartMilliseconds`.
    public var latestStartMilliseconds: Int64?
    /// Upper bound, for budgets: held when less is left (Apple: countOfBytesClientExpectsToReceive). Nil:
    /// `expectedSize`, or not known.
    public var expectedBytesReceived: UInt64?
    /// The same for the body (Apple: countOfBytesClientExpectsToSend). Nil: its size.
    public var expectedBytesSent: UInt64?

    /// Priority of a task that starts at once, beyond its session's limits.
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
    /// False: the idempotency key found an earlier task.
    public let isNew: Bool
    /// State of the task that the key found; nil: it is new.
    public let state: TaskState?
    /// The event of its end, while that is not acknowledged.
    public let eventID: EventID?
    /// Its event was acknowledged: no event of the task comes again.
    public var isAcknowledged: Bool { state?.hasEnded == true && eventID == nil }

    init(_ enqueued: bh_enqueued) {
        taskID = enqueued.task_id
        isNew = Int(enqueued.disposition) == BH_ENQUEUE_NEW
        state = TaskState(rawValue: enqueued.task_state)
        eventID = nonzero(enqueued.event_id)
    }
}
