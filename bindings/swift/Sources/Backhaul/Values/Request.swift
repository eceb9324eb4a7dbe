internal import CBackhaul

/// A header field of a request or a response (RFC 9110, section 5).
public struct Header: Hashable, Sendable {
    /// The name of the field.
    public var name: String
    /// The value of the field.
    public var value: String

    /// Makes a header field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What the engine does if a file exists at the destination of a download. The *engine* is the process that runs the
/// tasks. It checks for an existing file when the request is enqueued (stored as a task), and again before it places
/// the downloaded file.
public enum ExistsPolicy: Hashable, Sendable {
    /// The task fails with `.destinationExists`.
    case fail
    /// The file is replaced atomically by rename(2). A directory is never replaced.
    case replace
    /// If the existing file has the checksum and size of the request, the task succeeds without an HTTP request.
    /// Otherwise the existing file is replaced. The request must have a `checksum` or an `expectedSize`.
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
    /// SHA-256, as 64 hexadecimal digits, without a prefix.
    case sha256(String)
    /// SHA-512, as 128 hexadecimal digits, without a prefix.
    case sha512(String)

    /// The checksum in the form of the C header, such as "sha-256:…".
    package var text: String {
        switch self {
        case .sha256(let digits): "sha-256:" + digits
        case .sha512(let digits): "sha-512:" + digits
        }
    }

    /// The same text. Throws if the digits are wrong, because the library's message would name the C header's form.
    func checkedText() throws(BackhaulError) -> String {
        let (name, digits, count) =
            switch self {
            case .sha256(let digits): ("sha256", digits, 64)
            case .sha512(let digits): ("sha512", digits, 128)
            }
        guard digits.utf8.count == count, digits.allSatisfy(\.isHexDigit) else {
            throw BackhaulError(
                .invalidArgument, message: "checksum is not .\(name) with \(count) hexadecimal digits and no prefix")
        }
        return text
    }
}

/// Which part of the request expires. When this part has expired, the engine opens a challenge of the kind `.refresh`:
/// a demand for a new value.
public enum Refresh: Int32, Hashable, Sendable {
    /// The headers expire. All tasks of a session with the same origin share one challenge. The host responds with
    /// `ChallengeResponse.headers`.
    case headers = 1
    /// The URL expires. Each task has its own challenge. The host responds with `ChallengeResponse.url` or `.headers`.
    case url = 2
}

/// A download or an upload.
///
/// A request with a body and without a destination is an upload. The event of an upload has the body of the response. A
/// request with a body and a destination is a download.
public struct Request: Hashable, Sendable {
    /// An http or https URL, without user and password.
    public var url: String
    /// The absolute path at which the file is placed. Nil for an upload. If the path of a download is nil, the engine
    /// keeps the file in its store until the host moves the file to another path (`Session.claim`).
    public var destination: String?
    /// The idempotency key, 1 to 255 bytes. A later request with the same key finds the same task. This task keeps its
    /// priority, rate, constraints and start times. If the task has succeeded, a new task can use the key after the
    /// next event `.sessionFinished` is acknowledged. If the task has failed or was cancelled, a new task can use the
    /// key after the event of the task is acknowledged.
    public var idempotencyKey: String?
    /// The header fields. They are sent only to the URL's origin, and are stored in a file with mode 0600.
    public var headers: [Header]
    /// Any bytes that the host wants to store with the task. Each event and each listing of the task returns these
    /// bytes.
    public var userData: [UInt8]?
    /// What the engine does if a file exists at the destination.
    public var ifExists: ExistsPolicy
    /// The priority: -100 to 100, or `Request.priorityNow`. In a session, tasks with a higher priority start first.
    public var priority: Int32
    /// Whether the task is suspended from the start, until `Session.resume` is called.
    public var startsSuspended: Bool
    /// The permission bits of the file. Nil: those of the replaced file, or of the directory's default ACL, or 0o666
    /// without the bits of the host's umask.
    public var mode: UInt32?
    /// The HTTP method. Nil: GET if there is no body, PUT if the body is a file or bytes, and POST if the body is a
    /// form.
    public var method: String?
    /// The name of a group. When all tasks of the group have ended, the event `.groupFinished` reports this.
    public var group: String?
    /// The digest that the file must have. A file with another digest is downloaded a second time. Then the task fails
    /// with `.checksumMismatch`.
    public var checksum: Checksum?
    /// The size of the file in bytes. A file of another size is downloaded a second time. If the second file also has
    /// another size, the task fails with `.sizeMismatch`.
    public var expectedSize: UInt64?
    /// The body of the request.
    public var body: Body?
    /// Which part of the request expires. Nil: no part expires.
    public var refresh: Refresh?
    /// When the headers or the URL expire (see `refresh`), as Unix time in milliseconds. After this time, the engine
    /// opens a challenge before it starts an attempt. Nil: the engine opens this challenge only after a response with
    /// status 401 or 403, or for a URL also after another one, such as 404.
    public var expiresMilliseconds: Int64?
    /// The settings of this task. Its `retry` and `rules` replace the same settings of the session. The constraints and
    /// the rate limit of the session always apply as well. Nil: only the session's settings apply.
    public var policy: Policy?
    /// Whether a file is downloaded again only if it has changed on the server. This applies to a file that an earlier
    /// task with this property downloaded from this URL. For such a file, the engine sends a conditional request (RFC
    /// 9110, section 13.1).
    ///
    /// If the file has not changed, the task succeeds with `httpStatus` 304, and the file at the destination stays.
    /// This property requires that `ifExists` is `.replace`.
    public var isOnlyIfChanged = false
    /// Whether the server names the file. If true, `destination` must be an existing directory. The name comes from
    /// Content-Disposition (RFC 6266). Without this header field, the name is the last segment of the URL's path. If a
    /// redirect leads to another URL, and only that URL's segment has an extension, it is the name. The event has the
    /// path of the file.
    public var isNamedByServer = false
    /// Whether the engine ignores the header fields Repr-Digest and Content-Digest of the response (RFC 9530).
    public var ignoresDigests = false
    /// The time before which the task does not start, as Unix time in milliseconds (Apple: earliestBeginDate).
    public var earliestStartMilliseconds: Int64?
    /// The latest start, as Unix time in milliseconds. A `Preset` is a set of demands on the system, for which the task
    /// waits. After this time, the presets of the task and of its session do not apply any more. The time must not be
    /// before `earliestStartMilliseconds`.
    public var latestStartMilliseconds: Int64?
    /// An upper bound of the bytes that the task receives (Apple: countOfBytesClientExpectsToReceive). While a budget
    /// has fewer bytes left than this bound, the task waits. Nil: `expectedSize` is the bound. If `expectedSize` is
    /// also nil, there is no bound.
    public var expectedBytesReceived: UInt64?
    /// An upper bound of the bytes that the task sends (Apple: countOfBytesClientExpectsToSend). Nil: the size of the
    /// body is the bound.
    public var expectedBytesSent: UInt64?
    /// The first byte to transfer. A download without a body fetches only these bytes of the resource; `checksum` and
    /// `expectedSize` then apply to them. An upload of a file sends only these bytes of the file. If the resource is
    /// shorter than the range, the task fails with `.sizeMismatch`. Nil: from the first byte on.
    public var rangeStart: UInt64?
    /// The number of bytes to transfer from `rangeStart` on. Nil: all bytes up to the end.
    public var rangeSize: UInt64?
    /// The tasks of the session that must have ended before this task starts. The task waits for them without a host.
    public var after: [Dependency] = []

    /// The priority of a task that starts immediately, even if its session's limits are reached.
    public static let priorityNow = Int32(BH_PRIORITY_NOW)

    /// Makes a request. The other properties can be set later.
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

/// The result of the enqueue of one request: a new task, or an earlier task.
public struct Enqueued: Hashable, Sendable {
    /// The new task, or the earlier task.
    public let taskID: TaskID
    /// Whether the task is new. False: the idempotency key found an earlier task.
    public let isNew: Bool
    /// The state of the task that the key found. Nil if the task is new.
    public let state: TaskState?
    /// The id of the event that reports the end of the found task. Nil if there is no such event, or if the host has
    /// acknowledged the event.
    public let eventID: EventID?
    /// Whether the host has acknowledged the event about the end of the found task. If true, no further event about
    /// this task is delivered.
    public var isAcknowledged: Bool { state?.hasEnded == true && eventID == nil }

    package init(taskID: TaskID, isNew: Bool, state: TaskState?, eventID: EventID?) {
        self.taskID = taskID
        self.isNew = isNew
        self.state = state
        self.eventID = eventID
    }

    init(_ enqueued: bh_enqueued) {
        taskID = TaskID(rawValue: enqueued.task_id)
        isNew = Int(enqueued.disposition) == BH_ENQUEUE_NEW
        state = TaskState(rawValue: enqueued.task_state)
        eventID = nonzero(enqueued.event_id).map { EventID(rawValue: $0) }
    }
}
