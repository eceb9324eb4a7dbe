internal import BackhaulModel

/// What one request carries for its own server and for its own proxy. Basic and Digest are libcurl's to compute, so
/// that our memory holds no second form of a password.
struct HopCredentials {
    var user: String?
    var password: String?
    var proxyUser: String?
    var proxyPassword: String?
    /// How they are given: libcurl may use no other, whatever is offered.
    var scheme = AuthenticationSchemes.basic
    var proxyScheme = AuthenticationSchemes.basic
    /// The answer for whose Digest the server's nonces are.
    private var digestNumber: UInt64?
    /// Negotiate: with a token from the user's own tickets, for one request.
    private(set) var wantsTicket = false
    private(set) var wantsProxyTicket = false
    private var headers: [HeaderField] = []
    private var proxyHeaders: [HeaderField] = []

    init() {}

    /// - route: the proxy with what the configuration or the environment has for it, which an answer replaces.
    init(
        server: SessionCredentials.Answer?, proxy proxyAnswer: SessionCredentials.Answer?, through route: ProxyRoute?
    ) {
        (proxyUser, proxyPassword) = (route?.user, route?.password)
        // Nobody has asked yet: the strongest that the proxy offers.
        if route?.user != nil { proxyScheme = [.basic, .digest] }
        switch server?.response {
        case .credential(let user, let password):
            if server?.scheme == .negotiate {
                wantsTicket = true
                break
            }
            (self.user, self.password) = (user, password)
            scheme = server?.scheme ?? .basic
            if scheme == .digest { digestNumber = server?.number }
        case .headers(let fields): headers = fields
        case .refuse, .standard, .url, nil: break
        }
        switch proxyAnswer?.response {
        case .credential(let user, let password):
            if proxyAnswer?.scheme == .negotiate {
                wantsProxyTicket = true
                (proxyUser, proxyPassword) = (nil, nil)
                break
            }
            (proxyUser, proxyPassword) = (user, password)
            proxyScheme = proxyAnswer?.scheme ?? .basic
        case .headers(let fields): (proxyHeaders, proxyUser, proxyPassword) = (fields, nil, nil)
        case .refuse, .standard, .url, nil: break
        }
    }

    /// Whether libcurl may answer this status itself, by a second request.
    func mayRepeat(after status: Int32) -> Bool {
        switch status {
        case 401: user != nil && scheme != .basic
        case 407: proxyUser != nil && proxyScheme != .basic
        default: false
        }
    }

    /// Negotiate proves who a connection is, not who has sent a request: it is shared with nobody.
    var belongsToConnection: Bool { wantsTicket || wantsProxyTicket }

    mutating func present(_ tickets: HopTickets) {
        if wantsTicket, let token = tickets.server { headers = [HeaderField("Authorization", "Negotiate \(token)")] }
        guard wantsProxyTicket, let token = tickets.proxy else { return }
        proxyHeaders = [HeaderField("Proxy-Authorization", "Negotiate \(token)")]
    }

    /// Whose nonces libcurl's handle has afterwards, nil when nobody's: they are sent for the same answer at the same
    /// server only. Those of a proxy are of the handle's identity.
    func nonceOwner(at origin: Origin) -> String? { digestNumber.map { "\($0) \(origin.text)" } }

    var proxyLines: [String] {
        proxyHeaders.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    }

    /// The request's own fields and those of the answer, which replace fields of the same name. An Authorization of the
    /// request's own did not serve when there is an answer.
    func merged(into fields: [HeaderField]) -> [HeaderField] {
        var replaced = Set(headers.map { $0.name.lowercased() })
        if user != nil { replaced.insert("authorization") }
        guard !replaced.isEmpty else { return fields }
        return fields.filter { !replaced.contains($0.name.lowercased()) } + headers
    }
}

/// Tokens for Negotiate, each for one request.
struct HopTickets {
    var server: String?
    var proxy: String?
}
