/// A digest that a file must have: "sha-256:" with 64 hexadecimal digits, or "sha-512:" with 128.
public struct Checksum: Equatable, Sendable {
    public enum Algorithm: String, Sendable, CaseIterable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        public var size: Int { self == .sha256 ? 32 : 64 }
    }
    public var algorithm: Algorithm
    public var digest: [UInt8]

    public init(_ algorithm: Algorithm, _ digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }

    /// Returns nil if the text does not have the form of a checksum.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let algorithm = Algorithm(rawValue: String(decoding: bytes[..<colon], as: UTF8.self))
        else { return nil }
        let digits = bytes[(colon + 1)...].map(\.hexadecimalValue)
        guard digits.count == algorithm.size * 2 else { return nil }
        var digest: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            digest.append(high << 4 | low)
        }
        self.init(algorithm, digest)
    }

    /// The text in the form that `init` reads, in lower case.
    public var text: String {
        var text = algorithm.rawValue + ":"
        for byte in digest { text += String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16) }
        return text
    }
}

/// What the engine does with a *body file*, which is a file whose bytes an upload sends. The engine reads the file in
/// place, copies it into the store, or moves it into the store: `BH_BODY_…`.
public enum BodySource: Int32, Sendable, CaseIterable {
    case reference = 0
    case snapshot = 1
    case consume = 2
}

/// A body file, with the properties that it had when the request was stored as a task (at the enqueue). If the
/// properties differ later, the file was changed.
public struct BodyFile: Equatable, Sendable {
    /// An absolute path.
    public var path: String
    public var device: UInt64
    public var inode: UInt64
    public var size: UInt64
    public var modifiedNanoseconds: Int64
    /// The name that the copy (`snapshot`) or the moved file (`consume`) has in the store. For a copy, the device and
    /// inode are not set.
    public var storedName: String?
    /// Of a file to consume: the identity of the file system that has the directory of `path`. Nil if it is unknown.
    /// The engine determines it.
    public var fileSystem: String?

    /// Whether no file exists at `path`. This is allowed if a task with the request's idempotency key exists already.
    public var isAbsent: Bool { inode == 0 && storedName == nil }

    public init(path: String, device: UInt64, inode: UInt64, size: UInt64, modifiedNanoseconds: Int64) {
        self.path = path
        self.device = device
        self.inode = inode
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
    }
}

/// A body file that was moved into the store (`BodySource.consume`), and must be returned to the host.
public struct ReturnedBody: Equatable, Sendable {
    /// The name of the file in the store's directory of request bodies.
    public var name: String
    /// The absolute path at which the host had the file.
    public var path: String
    /// The task that consumed the file.
    public var task: TaskID
    /// The identity of the file system that had the file; nil if it is unknown.
    public var fileSystem: String?

    public init(name: String, path: String, task: TaskID, fileSystem: String? = nil) {
        self.name = name
        self.path = path
        self.task = task
        self.fileSystem = fileSystem
    }

    /// The path for the file if another file exists at `path`.
    public var otherPath: String { "\(path).~\(task.rawValue)" }
}

/// One part of a form: `bh_part`.
public struct FormPart: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case file(BodyFile)
        case value([UInt8])
    }
    public var name: String
    public var content: Content
    /// The file name that is sent to the server.
    public var fileName: String?
    public var mediaType: String?

    public init(name: String, content: Content, fileName: String? = nil, mediaType: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.mediaType = mediaType
    }
}

/// The body of a request.
public enum RequestBody: Equatable, Sendable {
    case file(BodyFile, BodySource)
    case bytes([UInt8])
    case form([FormPart], BodySource)
}

/// What can expire in a request, so that the host must replace it: nothing, the headers or the URL (`BH_REFRESH_…`).
public enum RefreshKind: Int32, Sendable, CaseIterable {
    case none = 0
    case headers = 1
    case url = 2
}

/// The rarely used fields of `bh_request`.
public struct RequestOptions: Equatable, Sendable {
    /// The method; nil: GET without a body, PUT for a file or bytes, POST for a form.
    public var method: String?
    public var group: String?
    public var checksum: Checksum?
    public var expectedSize: UInt64?
    public var body: RequestBody?
    public var refresh = RefreshKind.none
    /// When the headers or the URL expire, in Unix milliseconds.
    public var expiresMilliseconds: Int64?
    /// Whether the task downloads the file only if the server's file has changed: `BH_REQUEST_IF_CHANGED`.
    public var isOnlyIfChanged = false
    /// Whether the server chooses the file's name: `BH_REQUEST_NAMED_BY_SERVER`.
    public var isNamedByServer = false
    /// Whether the engine ignores digests that the server states: `BH_REQUEST_IGNORES_DIGESTS`.
    public var ignoresDigests = false
    /// The earliest start in Unix milliseconds; nil: the task may start immediately.
    public var earliestStartMilliseconds: Int64?
    /// The latest start in Unix milliseconds. After this time, a preset such as `discretionary` (which demands external
    /// power, for example) does not delay the task any more; nil: the preset always applies.
    public var latestStartMilliseconds: Int64?
    /// The most bytes that the task will receive; nil: unknown. Budgets (limits on the bytes of a day or a month) use
    /// this value. `expectedBytesSent`: the most bytes that the task will send.
    public var expectedBytesReceived: UInt64?
    public var expectedBytesSent: UInt64?
    /// The first byte to transfer, and the number of bytes; nil: from the first byte, and to the last one.
    public var rangeStart: UInt64?
    public var rangeSize: UInt64?
    public var policy = TaskPolicy()
    /// The tasks of the session that the task waits for.
    public var dependencies: [Dependency] = []

    public init() {}

    /// The part of the resource or of the body's file that the request transfers; nil: all of it.
    public var range: ByteRange? {
        rangeStart == nil && rangeSize == nil ? nil : ByteRange(start: rangeStart ?? 0, size: rangeSize)
    }

    /// The bytes of the body that an upload sends; nil if there is no body. A download sends all of its body.
    public var sentBytes: Range<UInt64>? {
        guard let body else { return nil }
        return range?.bytes(of: body.size) ?? 0..<body.size
    }

    public static let none = RequestOptions()

    /// The number of body bytes that an upload sends; nil if there is no body.
    public var sentSize: UInt64? { sentBytes.map { $0.upperBound - $0.lowerBound } }

    /// Visits all fields except the body, the constraints and the dependencies, which are stored in other tables.
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&method, "method")
        try visitor.field(&group, "group")
        try visitor.field(&checksum, "checksum")
        try visitor.field(&expectedSize, "expected_size")
        try visitor.field(&refresh, "refresh")
        try visitor.field(&expiresMilliseconds, "expires_ms")
        try visitor.field(&isOnlyIfChanged, "if_changed")
        try visitor.field(&isNamedByServer, "named_by_server")
        try visitor.field(&ignoresDigests, "ignores_digests")
        try visitor.field(&earliestStartMilliseconds, "earliest_start_ms")
        try visitor.field(&latestStartMilliseconds, "latest_start_ms")
        try visitor.field(&expectedBytesReceived, "expected_bytes_received")
        try visitor.field(&expectedBytesSent, "expected_bytes_sent")
        try visitor.field(&rangeStart, "range_start")
        try visitor.field(&rangeSize, "range_size")
        try policy.visitFields(with: &visitor)
    }
}

/// The kind of a task: `BH_TASK_KIND_…`.
public enum TaskKind: Int32, Sendable, CaseIterable {
    case download = 1
    case upload = 2
}
