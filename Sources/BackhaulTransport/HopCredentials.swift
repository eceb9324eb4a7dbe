internal import BackhaulModel

/// What one request carries for its own server and for its own proxy. Basic is libcurl's to encode, so that our memory
/// holds no second form of a password.
struct HopCredentials {
    var user: String?
    var password: String?
    var proxyUser: String?
    var proxyPassword: String?
    private var headers: [HeaderField] = []
    private var proxyHeaders: [HeaderField] = []

    init() {}

    /// - route: the proxy with what the configuration or the environment has for it, which an answer replaces.
    init(server: ChallengeResponse?, proxy proxyAnswer: ChallengeResponse?, through route: ProxyRoute?) {
        (proxyUser, proxyPassword) = (route?.user, route?.password)
        switch server {
        case .credential(let user, let password): (self.user, self.password) = (user, password)
        case .headers(let fields): headers = fields
        case .refuse, .standard, .url, nil: break
        }
        switch proxyAnswer {
        case .credential(let user, let password): (proxyUser, proxyPassword) = (user, password)
        case .headers(let fields): (proxyHeaders, proxyUser, proxyPassword) = (fields, nil, nil)
        case .refuse, .standard, .url, nil: break
        }
    }

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
