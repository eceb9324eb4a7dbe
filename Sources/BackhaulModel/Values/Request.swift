/// A header field of a request or an answer.
public struct HeaderField: Equatable, Sendable {
    public var name: String
    public var value: String
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What to do when a file with the destination's name exists: `BH_IF_EXISTS_…`.
public enum ExistsPolicy: Int32, Sendable, CaseIterable {
    case fail = 0
    case replace = 1
    case skip = 2
}

/// Where a finished file goes. The directory's device and inode are those the host saw: daemon and host may live in
/// different mount namespaces, and the engine refuses when it sees another directory.
public struct Destination: Equatable, Sendable {
    /// Absolute. With a slash at its end it is a directory in which the server names the file; otherwise the file.
    public var path: String
    /// 0: not known, because the host saw it in another boot.
    public var directoryDevice: UInt64
    public var directoryInode: UInt64
    /// A file had the path when the host handed the request over. Only an enqueue asks for it, and it is not stored.
    public var isOccupied: Bool

    public init(path: String, directoryDevice: UInt64, directoryInode: UInt64, isOccupied: Bool = false) {
        self.path = path
        self.directoryDevice = directoryDevice
        self.directoryInode = directoryInode
        self.isOccupied = isOccupied
    }

    public var directory: String { Destination.directory(of: path) }

    /// The path of a directory in the form that says so.
    public static func directoryPath(_ path: String) -> String {
        let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        return end.map { String(path[...$0]) + "/" } ?? "/"
    }

    /// The path up to its last slash.
    public static func directory(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        return end == path.utf8.startIndex ? "/" : String(path[..<end])
    }

    public var name: String {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: end)...])
    }
}

/// A transfer to make, as the host asked for it: `bh_request`.
public struct Request: Equatable, Sendable {
    public var url: String
    /// Nil: kept in the store until claimed, or an upload. A directory when the file is named by the server.
    public var destination: Destination?
    public var idempotencyKey: String?
    public var headers: [HeaderField] = []
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy = .fail
    public var priority: Int32 = 0
    public var startsSuspended = false
    /// Permission bits of the finished file, the host's umask already taken off.
    public var mode: UInt32 = 0o644
    /// Its URL was refreshed to one of another origin: what the host gave for the first stays behind.
    public var isElsewhere = false
    private var boxedOptions: Boxed<RequestOptions>?

    public init(url: String) { self.url = url }

    public var hasOptions: Bool { boxedOptions != nil }

    public var options: RequestOptions {
        get { boxedOptions?.value ?? .none }
        set { boxedOptions = newValue == .none ? nil : Boxed(newValue) }
    }

    /// A body without a destination is an upload.
    public var kind: TaskKind { destination == nil && boxedOptions?.value.body != nil ? .upload : .download }

    /// As it is sent (RFC 9110, section 9).
    public var method: String {
        guard let options = boxedOptions?.value else { return "GET" }
        if let method = options.method { return method }
        switch options.body {
        case nil: return "GET"
        case .form: return "POST"
        case .file, .bytes: return "PUT"
        }
    }
}

/// Scheme, host and port: what connections are counted by, and what credentials and headers belong to.
public struct Origin: Hashable, Sendable {
    /// "https" or "http"
    public var scheme: String
    /// Lower case; an IPv6 address in brackets.
    public var server: String
    public var port: UInt16

    public init(scheme: String, server: String, port: UInt16) {
        self.scheme = scheme
        self.server = server
        self.port = port
    }

    /// "https://example.org:443"
    public var text: String { "\(scheme)://\(server):\(port)" }
}

/// What an enqueue did with one request: `bh_enqueued`.
public struct Enqueued: Equatable, Sendable {
    public enum Disposition: Int32, Sendable, CaseIterable {
        case notApplied = 0
        case new = 1
        case existing = 2
    }
    public var task: TaskID
    public var disposition: Disposition
    /// Of a task that its key found: how it stood. Nil for others.
    public var state: TaskState?
    /// The event of its end while that is not acknowledged, otherwise zero.
    public var end: EventID

    public init(task: TaskID, disposition: Disposition, state: TaskState? = nil, end: EventID = .zero) {
        self.task = task
        self.disposition = disposition
        self.state = state
        self.end = end
    }
}
