public import BackhaulModel

/// What `Transport.start` needs to send the request of an attempt: the target, and the rules for its connection,
/// redirects and credentials. The body and the cookies are separate arguments.
public struct TransferRequest: Sendable {
    public var url: String
    /// The header fields that are sent only to `origin`. After a redirect to another origin they are not sent any more.
    public var headers: [HeaderField]
    /// The names of the `headers` for which the host gives new values when the server rejects the present ones. The
    /// names are in lower case.
    public var refreshedNames: Set<String> = []
    /// The header fields of a protocol over HTTP, and the type of a form. They are sent to each origin, also after
    /// redirects, because the request means something else without them. They replace fields of the same names.
    public var protocolHeaders: [HeaderField] = []
    /// The first and the last byte to request (RFC 9110, section 14.2). Nil: all bytes, without a range. `last`: nil if
    /// all bytes from the first one on are requested.
    public var range: (first: UInt64, last: UInt64?)?
    /// The validator for If-Range, which makes a range safe (RFC 9110, section 13.1.5).
    public var ifRange: String?
    /// The longest time in which no byte is sent or received. The limit also applies before the first byte.
    public var requestTimeoutMilliseconds: UInt32
    public var httpVersion = HTTPVersion.standard
    public var redirects = RedirectPolicy.follow
    public var maximumRedirects: Int
    /// Whether no connection may be made to a private address. Over a proxy, only the server in the URL is checked.
    public var refusesPrivateAddresses = false
    /// The path of a PEM file with the certificate authorities to trust instead of the system's.
    public var caFile: String?
    public var tls = TLSConfiguration()
    public var proxy = ProxyConfiguration()
    /// The origin of `url`.
    public var origin: Origin
    /// The representation (the bytes of the resource at one time) that is already at the destination. The server should
    /// send a body only if it has another representation (RFC 9110, section 13.1).
    public var condition: KnownRepresentation?
    /// Whether caches are asked for a fresh copy, because the last copy was wrong (RFC 9111, section 5.2.1.4).
    public var bypassesCaches = false
    /// The method, a token (RFC 9110, section 9.1).
    public var method = "GET"
    public var expectation = Expectation.whenLarge
    /// Whether the request may be sent again even if the first request may have reached the server. If the method is
    /// not idempotent (RFC 9110, section 9.2.2), this is true only if the task's policy allows it. If this is false,
    /// the request is sent again only if no server has acted on the request.
    public var canBeRepeated = true
    /// Whether a body counts as complete when its TLS connection ends without close_notify (RFC 9112, section 9.8).
    public var toleratesMissingCloseNotify = false
    /// Whether the cached addresses of the server are ignored. Set after a failed request, because the server may have
    /// a new address.
    public var bypassesDNSCache = false
    /// The credentials for challenges (demands of servers or proxies for a credential). Each credential is sent only to
    /// the server or proxy that has sent the challenge, even after a redirect.
    public var credentials: SessionCredentials?
    /// If fields of the request had expired, the program that embeds the library has given new fields. This property
    /// contains the secrets in the new fields. These secrets must not appear in stored texts.
    public var secrets = SecretRedactor()
    /// For an object of S3: whose signature the request has. Its redirects are not followed.
    public var s3: S3Request?

    public init(
        url: String, headers: [HeaderField] = [], ifRange: String? = nil,
        requestTimeoutMilliseconds: UInt32 = 60_000, caFile: String? = nil, maximumRedirects: Int = 20, origin: Origin,
        credentials: SessionCredentials? = nil
    ) {
        self.url = url
        self.origin = origin
        self.headers = headers
        self.ifRange = ifRange
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.caFile = caFile
        self.maximumRedirects = maximumRedirects
        self.credentials = credentials
    }

    /// Makes a request with the settings of its session and with its task's policy.
    /// - headers: the fields of the request. A field of the request replaces the session's field with the same name.
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
        refusesPrivateAddresses = policy.refusesPrivateAddresses
        toleratesMissingCloseNotify = policy.tolerances.contains(.missingCloseNotify)
        tls = session.tls
        proxy = session.proxy
    }

    /// Throws if a header field has no name or has a control character, such as a line end. A line end would split the
    /// field into two fields. This check does not rely on earlier checks.
    func checkHeaders() throws(Failure) {
        for field in headers + protocolHeaders {
            let texts = [field.name, field.value]
            guard texts.allSatisfy({ $0.utf8.allSatisfy(\.isFieldText) }), !field.name.isEmpty else {
                throw Failure(.invalidArgument, "a header has no name, or has a control character in it")
            }
        }
    }
}
