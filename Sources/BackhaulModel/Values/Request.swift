/// A header field of a request or a response.
public struct HeaderField: Equatable, Sendable {
    public var name: String
    public var value: String
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What to do when a file exists at the path of a download's destination: `BH_IF_EXISTS_…`.
public enum ExistsPolicy: Int32, Sendable, CaseIterable {
    case fail = 0
    case replace = 1
    case skip = 2
}

/// Where a finished file is placed. Device and inode are those of the directory that the host saw at the path. The
/// engine, which performs the request, may run in a daemon with another mount namespace. There, the same path may lead
/// to another directory. If the engine sees another directory at this path, the engine refuses the request.
public struct Destination: Equatable, Sendable {
    /// An absolute path. With a slash at the end, it is the path of a directory, and the server chooses the name of the
    /// file. Without a slash at the end, it is the path of the file.
    public var path: String
    /// The device of the directory; 0: unknown, because the host saw the directory in another boot.
    public var directoryDevice: UInt64
    public var directoryInode: UInt64
    /// The identity of the directory's file system at the enqueue; nil if it is unknown. The engine determines it.
    public var fileSystem: String?
    /// Whether a file existed at the path when the host gave the request to the engine (the enqueue). Only the enqueue
    /// uses this value; the value is not stored.
    public var fileExists: Bool

    public init(path: String, directoryDevice: UInt64, directoryInode: UInt64, fileExists: Bool = false) {
        self.path = path
        self.directoryDevice = directoryDevice
        self.directoryInode = directoryInode
        self.fileExists = fileExists
    }

    public var directory: String { Destination.directory(of: path) }
    public var name: String { Destination.name(of: path) }

    /// Whether the host found no directory. This is allowed if a task with the request's idempotency key exists.
    public var isDirectoryAbsent: Bool { directoryDevice == 0 && directoryInode == 0 }

    /// The path of a directory with one slash at its end.
    public static func directoryPath(_ path: String) -> String {
        let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        return end.map { String(path[...$0]) + "/" } ?? "/"
    }

    /// The path up to its last slash.
    public static func directory(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        return end == path.utf8.startIndex ? "/" : String(path[..<end])
    }

    /// The path after its last slash.
    public static func name(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: end)...])
    }
}

/// A transfer that the host requests: `bh_request`.
public struct Request: Equatable, Sendable {
    public var url: String
    /// Where the file is placed; a directory if the server chooses the file's name. Nil if the request is an upload, or
    /// if the file is kept in the store until the host takes it (`Command.claim`).
    public var destination: Destination?
    public var idempotencyKey: String?
    public var headers: [HeaderField] = []
    public var userData: [UInt8]?
    public var ifExists: ExistsPolicy = .fail
    public var priority: Int32 = 0
    public var startsSuspended = false
    public var mode = FileMode.default(umask: 0o022)
    /// Whether the URL that the host enqueued was replaced by a URL of another origin (scheme, host name and port). If
    /// so, the session's headers are not sent.
    public var isCrossOrigin = false
    /// Requests without options share the box `noOptions`, and `hasOptions` compares the boxes. Only `options` sets it.
    @usableFromInline var boxedOptions = Request.noOptions
    private static let noOptions = Boxed(RequestOptions.none)

    public init(url: String) { self.url = url }

    public var hasOptions: Bool { !boxedOptions.isShared(with: Request.noOptions) }

    /// Inlined, because a read of one field would otherwise copy all fields.
    public var options: RequestOptions {
        @inlinable @inline(__always) get { boxedOptions.value }
        set { boxedOptions = newValue == .none ? Request.noOptions : Boxed(newValue) }
    }

    /// The kind of the task: an upload if the request has a body and no destination; otherwise a download.
    public var kind: TaskKind { destination == nil && options.body != nil ? .upload : .download }

    /// Replaces the URL unless it is nil, and merges the headers. Headers are sent only to the origin for which they
    /// were given. So if the new URL has another origin than the present one, the present headers are dropped.
    public mutating func replace(url: String?, headers: [HeaderField]) {
        let crosses = url.map { !$0.hasAuthority(of: self.url) } ?? false
        self.url = url ?? self.url
        self.headers = crosses ? headers : self.headers.replacing(headers)
        isCrossOrigin = isCrossOrigin || crosses
    }

    /// The method that is sent (RFC 9110, section 9).
    public var method: String {
        if let method = options.method { return method }
        switch options.body {
        case nil: return "GET"
        case .form: return "POST"
        case .file, .bytes: return "PUT"
        }
    }
}

/// Scheme, host and port. Connections are counted for each origin. Credentials and headers are sent to one origin only.
public struct Origin: Hashable, Sendable {
    /// "https" or "http".
    public var scheme: String
    /// The host name in lower case, or an IPv6 address in brackets.
    public var server: String
    public var port: UInt16

    public init(scheme: String, server: String, port: UInt16) {
        self.scheme = scheme
        self.server = server
        self.port = port
    }

    /// Text such as "https://example.org:443".
    public var text: String { "\(scheme)://\(server):\(port)" }
}

/// The result of an enqueue for one request: `bh_enqueued`.
public struct Enqueued: Equatable, Sendable {
    public enum Disposition: Int32, Sendable, CaseIterable {
        case notApplied = 0
        case new = 1
        case existing = 2
    }
    public var task: TaskID
    public var disposition: Disposition
    /// The state of the existing task with the same idempotency key; nil for a new task.
    public var state: TaskState?
    /// The id of the event that reports the task's end; zero if there is no such event, or if the host has acknowledged
    /// the event.
    public var end: EventID

    public init(task: TaskID, disposition: Disposition, state: TaskState? = nil, end: EventID = .zero) {
        self.task = task
        self.disposition = disposition
        self.state = state
        self.end = end
    }
}
