public import BackhaulModel

/// One request, redirects included.
public struct TransferRequest: Sendable {
    public var url: String
    /// Sent to `origin` only: a redirect to another one drops them for good.
    public var headers: [HeaderField]
    /// 0 asks for the whole representation, anything else for what follows so many bytes (RFC 9110, section 14.2).
    public var offset: UInt64
    /// The validator that makes a range safe (RFC 9110, section 13.1.5).
    public var ifRange: String?
    /// For how long the server may send nothing, from the start on.
    public var requestTimeoutMilliseconds: UInt32
    public var httpVersion = HTTPVersion.standard
    public var redirects = RedirectPolicy.follow
    public var maximumRedirects: Int
    /// PEM certificates to trust instead of the system's.
    public var caFile: String?
    public var tls = TLSConfiguration()
    public var proxy = ProxyConfiguration()
    /// The origin of `url`.
    public var origin: Origin
    /// Only another version than this one is wanted (RFC 9110, section 13.1).
    public var condition: FileVersion?
    /// A token (RFC 9110, section 9.1).
    public var method = "GET"
    public var expectation = Expectation.whenLarge
    /// False for a method that is not idempotent (RFC 9110, section 9.2.2): then nothing is sent a second time unless
    /// the server asks for it.
    public var canBeRepeated = true
    /// A body that ends with its TLS connection is whole without close_notify (RFC 9112, section 9.8).
    public var toleratesMissingCloseNotify = false
    /// Forget which addresses the server's name had: the last request to it failed, and it may have moved.
    public var looksUpAgain = false
    /// Answers to challenges: each is sent to its own server or proxy only, whichever of them a redirect leads to.
    public var credentials: SessionCredentials?
    /// What `headers` have of answers to challenges.
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

    /// What a session and its policy for one task say of every request.
    /// - headers: of the request; those of the session come before them, unless one has the same name.
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

    /// One header must not become two on the wire, whoever checked it before.
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
