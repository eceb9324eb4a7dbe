/// By which protocol a task continues an upload after an interruption: `BH_RESUMABLE_…`.
public enum ResumableUploads: Int32, Sendable, CaseIterable {
    /// Each attempt sends the whole body.
    case never = 1
    /// `ietf` for bodies of at least `UploadProtocol.automaticSize` bytes, otherwise `never`.
    case automatic = 2
    /// draft-ietf-httpbis-resumable-upload. A server that does not know the draft gets an ordinary request.
    case ietf = 3
    /// tus 1.0 (https://tus.io/protocols/resumable-upload). The server must know it.
    case tus = 4
    /// Version 01 of the IETF's draft, which the URLSession of Apple's systems uses.
    case apple = 5
}

/// A resource that a server has made for one upload. The rest of the body is sent to this resource.
public struct UploadResource: Equatable, Sendable {
    /// The protocol by which the server has made the resource. No other one may be used.
    public let uploadProtocol: UploadProtocol
    public let url: String
    /// How many bytes of the body the server is known to have.
    public var offset: UInt64
    /// The most bytes of one request; nil: no limit.
    public var longestAppend: UInt64?

    /// - longestAppend: ignored if it is smaller than any limit that the engine stores. Such a value is from a damaged
    ///   row. A limit of 0 bytes would never let the upload end.
    public init(
        _ uploadProtocol: UploadProtocol, url: String, offset: UInt64 = 0, longestAppend: UInt64? = nil
    ) {
        self.uploadProtocol = uploadProtocol
        self.url = url
        self.offset = offset
        self.longestAppend = longestAppend.flatMap { $0 < Self.leastAppend ? nil : $0 }
    }
}

/// A resource of an upload that ended without success. The engine asks the server to remove it.
public struct AbandonedUpload: Equatable, Sendable {
    public let session: SessionID
    public let uploadProtocol: UploadProtocol
    public let url: String
    /// The URL of the request whose body was sent to the resource, and the header fields for its origin: with what the
    /// task has taken from responses, and what the host gave in place of expired values.
    public let requestURL: String
    public let headers: [HeaderField]
    /// Whether that origin is not the one of the host's request, so the session's header fields are not for it.
    public let isCrossOrigin: Bool
    /// The settings of the request for S3, without those of its session.
    public let s3: S3Settings
    /// The option of the request; nil: the session decides.
    public let refusesPrivateAddresses: Bool?
    /// When the upload ended, in Unix milliseconds.
    public let abandonedMilliseconds: Int64

    public init(
        session: SessionID, _ uploadProtocol: UploadProtocol, url: String, requestURL: String,
        headers: [HeaderField], isCrossOrigin: Bool = false, s3: S3Settings = S3Settings(),
        refusesPrivateAddresses: Bool? = nil, abandonedMilliseconds: Int64
    ) {
        self.session = session
        self.uploadProtocol = uploadProtocol
        self.url = url
        self.requestURL = requestURL
        self.headers = headers
        self.isCrossOrigin = isCrossOrigin
        self.s3 = s3
        self.refusesPrivateAddresses = refusesPrivateAddresses
        self.abandonedMilliseconds = abandonedMilliseconds
    }

    /// The longest time in which the engine asks again. Servers remove such resources by themselves at some time.
    static let longestMilliseconds: Int64 = 7 * 86_400_000

    /// Whether the response to the request for the removal is the last word. `status`: nil if there was no response.
    /// `now`: Unix milliseconds.
    public func isOver(after status: Int32?, now: Int64) -> Bool {
        if now - abandonedMilliseconds >= Self.longestMilliseconds { return true }
        guard let status else { return false }
        // Parts that stay cost money. Credentials that have expired cause the status 400 or 403.
        if uploadProtocol == .s3 { return 200..<300 ~= status || status == 404 }
        // 401 and 407: a later run of the host may give a credential. 409 and 423: another connection still has the
        // lock.
        return ![401, 407, 408, 409, 423, 425, 429].contains(status) && status < 500
    }
}
