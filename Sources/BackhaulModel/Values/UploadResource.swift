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
}

/// A resource that a server has made for one upload. The rest of the body is sent to this resource.
public struct UploadResource: Equatable, Sendable {
    public var url: String
    /// How many bytes of the body the server is known to have.
    public var offset: UInt64
    /// The most bytes of one request; nil: no limit.
    public var longestAppend: UInt64?

    public init(url: String, offset: UInt64 = 0, longestAppend: UInt64? = nil) {
        self.url = url
        self.offset = offset
        self.longestAppend = longestAppend
    }
}
