public import BackhaulModel

/// A request, with the rules for its redirects.
public struct TransferRequest: Sendable {
    public var url: String
    /// Header fields for `origin` only. A redirect to another origin drops them for the rest of the transfer.
    public var headers: [HeaderField]
    /// The first byte to request (RFC 9110, section 14.2). 0 requests the whole representation, without a range.
    public var offset: UInt64
    /// The validator for If-Range, which makes a range safe (RFC 9110, section 13.1.5).
    public var ifRange: String?
    /// The longest time in which the server may send nothing, counted also from the start.
    public var requestTimeoutMilliseconds: UInt32
    public var httpVersion = HTTPVersion.standard
    public var redirects = RedirectPolicy.follow
    public var maximumRedirects: Int
    /// The path of a file with PEM certificates to trust instead of the system's.
    public var caFile: String?
    public var tls = TLSConfiguration()
    public var proxy = ProxyConfiguration()
    /// The origin of `url`.
    public var origin: Origin
    /// The representation that the host has already. The server is to send only another one (RFC 9110, section 13.1).
    public var condition: FileVersion?
    /// The method, a token (RFC 9110, section 9.1).
    public var method = "GET"
    public var expectation = Expectation.whenLarge
    /// False for a method that is not idempotent (RFC 9110, section 9.2.2): the request is then sent again only if the
    /// server demands it.
    public var canBeRepeated = true
    /// Whether a body counts as complete when its TLS connection ends without close_notify (RFC 9112, section 9.8).
    public var toleratesMissingCloseNotify = false
    /// Whether to discard the cached addresses of the server. Set after a failed request, because the server may have
    /// moved.
    public var looksUpAgain = false
    /// The credentials for challenges. Each is sent only to its own server or proxy, also after a redirect.
    public var credentials: SessionCredentials?
    /// The secrets of refreshed headers in `headers`, which must not appear in stored texts.
    public var secrets = SentSecrets()

    public init(
        url: String, headers: [HeaderField] = [], offset: UInt64 = 0, ifRange: String? = nil,
        requestTimeoutMilliseconds: UInt32 = 60_000, caFile: String? = nil, maximumRedirects: Int = 20, origin: Origin,
        credentials: SessionCredentials? = nil
    ) {
        self.url = url
        self.origin = origin
        self.headers = headers
        self.offset = offset
        self.ifRange = ifRange
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.caFile = caFile
        self.maximumRedirects = maximumRedirects
        self.credentials = credentials
    }

    /// A request with the settings of its session and of its task's policy.
    /// - headers: the fields of the request. They replace fields of the session with the same name.
    public init(
        url: String, headers: [HeaderField], origin: Origin, session: SessionConfiguration, policy: TransferPolicy,
        credentials: SessionCredentials?
    ) {
        let own = Set(headers.map { $0.name.lowercased() })
        self.init(
            url: url, headers: session.headers.filter { !own.contains($0.name.lowercased()) } + headers,
            requestTimeoutMilliseconds: policy.requestTimeoutMilliseconds, caFile: session.caFile,
            maximumRedirects: Int(policy.maximumRedirects), origin: origin, credentials: credentials)
        httpVersion = policy.httpVersion
        redirects = policy.redirects
        toleratesMissingCloseNotify = policy.tolerances.contains(.missingCloseNotify)
        tls = session.tls
        proxy = session.proxy
    }

    /// Checks that no header field can become two on the wire. Earlier checks are not trusted.
    func checkHeaders() throws(Failure) {
        for field in headers {
            let isClean = [field.name.utf8, field.value.utf8].allSatisfy { bytes in
                bytes.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
            }
            guard isClean, !field.name.isEmpty else {
                throw Failure(.invalidArgument, "a header has no name, or has a control character in it")
            }
        }
    }
}
