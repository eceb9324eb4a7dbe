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

    var rawValue: Int32 { Int32(self == .replace ? BH_IF_EXISTS_REPLACE : BH_IF_EXISTS_FAIL) }
}

/// A download that a session is asked to do.
public struct Request: Hashable, Sendable {
    /// http or https, without user name or password.
    public var url: String
    /// Absolute path of the file to make; nil: kept in the store until claimed (`Session.claim`).
    public var destination: String?
    /// 1 to 255 bytes: the same key again finds the same task, until the end of its round is acknowledged.
    public var idempotencyKey: String?
    /// Stored with the task and sent to the URL's origin only.
    public var headers: [Header]
    /// Comes back with each event and listing.
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy
    /// Higher runs first within the session; -100 to 100.
    public var priority: Int32
    /// Waits for `Session.resume`.
    public var startsSuspended: Bool
    /// Permission bits of the file; nil: 0o666 less the process's umask.
    public var mode: UInt32?

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
}
