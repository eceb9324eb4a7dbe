internal import BackhaulModel

/// The credentials of one request for its server and for its proxy. For Basic and Digest, libcurl computes the header
/// fields from the password. So the engine, which runs the transfers, does not keep these encoded forms of a password
/// in its memory in addition to the password.
struct HopCredentials {
    var user: String?
    var password: String?
    var proxyUser: String?
    var proxyPassword: String?
    /// The schemes that libcurl may use for the credential, regardless of the schemes that the server offers.
    var scheme = AuthenticationSchemes.basic
    var proxyScheme = AuthenticationSchemes.basic
    /// The number that identifies the server's credential if the credential's scheme is Digest; otherwise nil. The
    /// server's nonces belong to this credential.
    private var digestNumber: UInt64?
    /// Whether the request needs a Negotiate token for the server. The token is made from the user's Kerberos tickets.
    private(set) var needsToken = false
    private(set) var needsProxyToken = false
    private var headers: [HeaderField] = []
    private var proxyHeaders: [HeaderField] = []

    init() {}

    /// - route: the proxy, with its credential from the configuration or the environment. `proxyCredential` replaces
    ///   that credential.
    init(
        server: SessionCredentials.Credential?, proxy proxyCredential: SessionCredentials.Credential?,
        through route: ProxyRoute?
    ) {
        (proxyUser, proxyPassword) = (route?.user, route?.password)
        // The proxy has sent no challenge yet, so Basic and Digest are allowed. libcurl uses the strongest scheme that
        // the proxy offers.
        if route?.user != nil { proxyScheme = [.basic, .digest] }
        switch server?.response {
        case .credential(let user, let password):
            if server?.scheme == .negotiate {
                needsToken = true
                break
            }
            (self.user, self.password) = (user, password)
            scheme = server?.scheme ?? .basic
            if scheme == .digest { digestNumber = server?.number }
        case .headers(let fields): headers = fields
        case .refuse, .standard, .url, nil: break
        }
        switch proxyCredential?.response {
        case .credential(let user, let password):
            if proxyCredential?.scheme == .negotiate {
                needsProxyToken = true
                (proxyUser, proxyPassword) = (nil, nil)
                break
            }
            (proxyUser, proxyPassword) = (user, password)
            proxyScheme = proxyCredential?.scheme ?? .basic
        case .headers(let fields): (proxyHeaders, proxyUser, proxyPassword) = (fields, nil, nil)
        case .refuse, .standard, .url, nil: break
        }
    }

    /// Returns whether libcurl may send a second request by itself after a response with this status.
    func mayRepeat(after status: Int32) -> Bool {
        switch status {
        case 401: user != nil && scheme != .basic
        case 407: proxyUser != nil && proxyScheme != .basic
        default: false
        }
    }

    /// Restricts the proxy's credential to the strongest scheme in `offer`. With a single scheme, libcurl sends the
    /// credential in the first request.
    mutating func restrictProxyScheme(to offer: AuthenticationSchemes) {
        let usable = proxyScheme.intersection(offer)
        if !usable.isEmpty { proxyScheme = usable.contains(.digest) ? .digest : usable }
    }

    /// Leaves out the fields of the server's credential that have one of these names, in lower case. A user name, a
    /// password and a Negotiate token would be sent in the field Authorization. Returns whether anything was left out.
    mutating func withhold(_ names: Set<String>) -> Bool {
        let count = headers.count
        headers.removeAll { names.contains($0.name.lowercased()) }
        guard names.contains("authorization"), user != nil || needsToken else { return headers.count < count }
        (user, password, digestNumber, needsToken, scheme) = (nil, nil, nil, false, .basic)
        return true
    }

    /// Whether the credentials authenticate the whole connection, as with Negotiate. Other requests do not share such a
    /// connection.
    var belongsToConnection: Bool { needsToken || needsProxyToken }

    mutating func present(_ negotiateTokens: NegotiateTokens) {
        if needsToken, let token = negotiateTokens.server {
            headers = [HeaderField("Authorization", "Negotiate \(token)")]
        }
        guard needsProxyToken, let token = negotiateTokens.proxy else { return }
        proxyHeaders = [HeaderField("Proxy-Authorization", "Negotiate \(token)")]
    }

    /// Returns a text that names the owner of the Digest nonces that libcurl's handle stores during the request: the
    /// credential and the server. Returns nil if the credential's scheme is not Digest. The handle may send these
    /// nonces only for the same credential and server. Nonces of a proxy need no owner, because they belong to the
    /// connection identity (the settings of the connection).
    func nonceOwner(at origin: Origin) -> String? { digestNumber.map { "\($0) \(origin.text)" } }

    var proxyLines: [String] {
        proxyHeaders.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    }

    /// Returns the request's own fields and the fields of the credential. A field of the credential replaces the
    /// request's fields with the same name. If the credential has a user name, the request's own Authorization field is
    /// left out, because the server has refused that field.
    func merged(into fields: [HeaderField]) -> [HeaderField] {
        var replaced = Set(headers.map { $0.name.lowercased() })
        if user != nil { replaced.insert("authorization") }
        guard !replaced.isEmpty else { return fields }
        return fields.filter { !replaced.contains($0.name.lowercased()) } + headers
    }
}

/// Tokens for Negotiate. Each token is valid for one request.
struct NegotiateTokens {
    var server: String?
    var proxy: String?
}
