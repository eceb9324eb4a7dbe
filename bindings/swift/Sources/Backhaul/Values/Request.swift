internal import CBackhaul

/// A header of a request or an answer.
public struct Header: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What to do when a file with the destination's name exists, at enqueue and when the download finishes.
public enum ExistsPolicy: Hashable, Sendable {
    case fail
    /// In one step, by rename(2); a directory is never replaced.
    case replace
    /// When the file there has the request's checksum and expected size, of which at least one must be given, the task
    /// succeeds without a request; else it is replaced.
    case skip

    var rawValue: Int32 {
        switch self {
        case .fail: Int32(BH_IF_EXISTS_FAIL)
        case .replace: Int32(BH_IF_EXISTS_REPLACE)
        case .skip: Int32(BH_IF_EXISTS_SKIP)
        }
    }
}

/// A digest that a file must have.
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

/// What expires, and is then asked for by a challenge of `.refresh`.
public enum Refresh: Int32, Hashable, Sendable {
    /// One challenge for all tasks of the session and origin, answered with headers.
    case headers = 1
    /// One challenge for each task, answered with a URL or headers.
    case url = 2
}

/// A download or an upload that a session is asked to do: a request with a body and without a destination is an upload,
/// and its event carries the answer's body. With both it is a download by that method.
public struct Request: Hashable, Sendable {
    /// http or https, without user name or password.
    public var url: String
    /// Absolute path of the file to make; nil: kept in the store until claimed (`Session.claim`), or an upload.
    public var destination: String?
    /// 1 to 255 bytes: the same key again finds the same task, until the end of its round is acknowledged.
    public var idempotencyKey: String?
    /// Stored with the task and sent to the URL's origin only.
    public var headers: [Header]
    /// Comes back with each event and listing.
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy
    /// Higher runs first within the session; -100 to 100, or `Request.priorityNow`.
    public var priority: Int32
    /// Waits for `Session.resume`.
    public var startsSuspended: Bool
    /// Permission bits of the file; nil: 0o666 less the process's umask.
    public var mode: UInt32?
    /// Nil: GET, with a file or bytes PUT, with a form POST.
    public var method: String?
    /// When the last live task of a group has ended there is one event: `.groupFinished`.
    public var group: String?
    public var checksum: Checksum?
    /// Of the file in bytes, else `.sizeMismatch`.
    public var expectedSize: UInt64?
    public var body: Body?
    public var refresh: Refresh?
    /// Unix time in milliseconds until which what `refresh` names is good. Nil: it is asked for at a 401 or 403.
    public var expiresMilliseconds: Int64?
    /// How it differs from its session.
    public var policy: Policy?
    /// Fetched only if the server has another version than the one that an earlier task of the session has put at the
    /// destination: else the task succeeds with status 304. Needs `.replace`.
    public var isOnlyIfChanged = false
    /// The destination is a directory, which exists; the file's name in it is the server's, and the event has the path.
    public var isNamedByServer = false
    /// The server's Repr-Digest and Content-Digest are not verified.
    public var ignoresDigests = false
    /// Unix time in milliseconds before which it does not start (Apple: earliestBeginDate).
    public var earliestStartMilliseconds: Int64?
    /// Unix time in milliseconds from which on it waits for no preset's wishes any more, its session's included; not
    /// before `earliestStartMilliseconds`.
    public var latestStartMilliseconds: Int64?
    /// An upper bound in bytes, for budgets: it waits when less is left (Apple: countOfBytesClientExpectsToReceive).
    /// Nil: `expectedSize`, or not known.
    public var expectedBytesReceived: UInt64?
    /// The same (Apple: countOfBytesClientExpectsToSend). Nil: the body's size.
    public var expectedBytesSent: UInt64?

    /// Runs at once, beyond the session's limits.
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

/// What became of a request that was handed over.
public struct Enqueued: Hashable, Sendable {
    public let taskID: TaskID
    /// False: the idempotency key found its task.
    public let isNew: Bool
    /// How the task stood that the key found; nil: it is new.
    public internal(set) var state: TaskState?
    /// The event of its end, while that is not acknowledged.
    public internal(set) var endEvent: EventID?
    /// The end was acknowledged: no event of the task comes any more.
    public var isAcknowledged: Bool { state?.hasEnded == true && endEvent == nil }

    init(taskID: TaskID, isNew: Bool) {
        self.taskID = taskID
        self.isNew = isNew
    }

    mutating func add(_ found: bh_existing_task) {
        state = TaskState(rawValue: found.state)
        endEvent = found.event_id == 0 ? nil : found.event_id
    }
}
