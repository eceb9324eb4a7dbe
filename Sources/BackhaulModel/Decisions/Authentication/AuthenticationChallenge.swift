/// The demand for a credential in a 401 or 407 response (RFC 9110, sections 15.5.2 and 15.5.8). The credential is valid
/// in a protection space, which is a realm of a server or proxy.
public struct AuthenticationChallenge: Hashable, Sendable {
    public var space: ProtectionSpace
    public var schemes: AuthenticationSchemes
    /// The path of a directory of the server. Its files are probably in the same protection space (RFC 7617, section
    /// 2.2). For a proxy, the path is "/".
    public var scope: String
    /// Whether the request carried a credential that the server did not accept.
    public var credentialWasRejected = false

    init(space: ProtectionSpace, schemes: AuthenticationSchemes, scope: String) {
        self.space = space
        self.schemes = schemes
        self.scope = scope
    }

    /// Returns nil for statuses other than 401 and 407. Also returns nil for a 407 if no proxy is known. Such a 407
    /// counts as an ordinary status that the task does not accept.
    ///
    /// The realm comes from the first of these challenges that exists: usable Digest, Basic, Bearer, any challenge with
    /// a realm. Some servers omit the required field WWW-Authenticate. In this case there is no realm, and the scheme
    /// is `other`. The host can then respond with headers.
    public init?(_ head: ResponseHead) {
        let field: String
        let kind: ProtectionSpace.Kind
        let origin: String
        switch head.status {
        case 401: (field, kind, origin) = ("WWW-Authenticate", .server, head.origin)
        case 407:
            guard let proxy = head.proxy else { return nil }
            (field, kind, origin) = ("Proxy-Authenticate", .proxy, proxy)
        default: return nil
        }
        let offered = AuthenticationField.schemes(head.texts(field)).withoutUnusableDigest
        schemes = AuthenticationSchemes(offered.map { AuthenticationSchemes(name: $0.name) })
        if schemes.isEmpty { schemes = .other }
        let realm =
            offered.first { $0.name == "digest" } ?? offered.first { $0.name == "basic" }
            ?? offered.first { $0.name == "bearer" }
            ?? offered.first { $0.realm != nil }
        space = ProtectionSpace(kind: kind, origin: origin, realm: realm?.realm)
        scope = kind == .server ? URLPath.directory(of: head.finalURL) : "/"
    }
}

extension [OfferedScheme] {
    /// The algorithms that libcurl computes. It also accepts SHA-512-256, but before version 8.8 it computes SHA-256
    /// instead, and the server rejects each password.
    private static var digestAlgorithms: Set<String> { ["md5", "md5-sess", "sha-256", "sha-256-sess"] }

    /// The challenges that a client can meet; it ignores a Digest with an algorithm that it does not know (RFC 7616,
    /// section 3.7). libcurl cannot respond to a Digest without a nonce either. The name of such a challenge becomes
    /// empty, which stands for an unknown scheme. libcurl reads only the first Digest of a response. So if this Digest
    /// is not usable, no later Digest is usable.
    fileprivate var withoutUnusableDigest: [OfferedScheme] {
        guard let first = first(where: { $0.name == "digest" }),
            !first.hasNonce || !first.algorithms.isSubset(of: Self.digestAlgorithms)
        else { return self }
        return map { scheme in
            var scheme = scheme
            if scheme.name == "digest" { scheme.name = "" }
            return scheme
        }
    }
}

extension ResponseHead {
    /// Whether a response with this status shows that the sender has checked the request's credential. A portal, or a
    /// server that has no time for the request, may respond before the check.
    public static func showsCheckedCredential(_ status: Int32) -> Bool {
        ![408, 421, 425, 429].contains(status) && status < 500
    }
}

extension AuthenticationChallenge {
    /// The failure of a task that has no accepted credential.
    public var failure: Failure { credentialWasRejected ? space.refusal : space.failure }
}

extension AuthenticationSchemes {
    /// `name`: the name of the scheme in lower case.
    init(name: String) {
        switch name {
        case "basic": self = .basic
        case "bearer": self = .bearer
        case "digest": self = .digest
        case "negotiate": self = .negotiate
        default: self = .other
        }
    }

    /// The scheme with which a user name and password are sent: Digest if the server offers it, else Basic. The choice
    /// is made only once for each credential. So an attacker who later removes Digest from the offered schemes does not
    /// get the password. If user name and password are empty, the scheme is Negotiate, which uses the user's Kerberos
    /// credentials.
    static func strongest(of offered: AuthenticationSchemes, for response: ChallengeResponse) -> AuthenticationSchemes {
        guard case .credential(let user, let password) = response else { return [] }
        if user.isEmpty, password.isEmpty { return .negotiate }
        return offered.contains(.digest) ? .digest : .basic
    }

    /// The schemes' names for messages, such as "Basic, Bearer".
    public var names: String {
        let all: [(AuthenticationSchemes, String)] = [
            (.basic, "Basic"), (.bearer, "Bearer"), (.digest, "Digest"), (.negotiate, "Negotiate"),
            (.other, "another scheme"),
        ]
        return all.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension ProtectionSpace {
    /// The demand as one sentence for messages, without a full stop.
    public var sentence: String {
        if kind == .refresh {
            return task == nil
                ? "the headers of requests to \(origin) have expired, and the host must give new ones"
                : "the URL of the request to \(origin) has expired, and the host must give a new one"
        }
        let who = kind == .server ? "the server" : "the proxy"
        guard let realm else { return "\(who) \(origin) asks for a credential and names no realm" }
        return "\(who) \(origin) asks for a credential for its realm \"\(realm)\""
    }
}

extension ProtectionSpace {
    /// The failure of tasks that get no credential.
    public var failure: Failure {
        guard kind != .refresh else {
            return Failure(.authenticationRequired, "\(sentence); it gave none that works")
        }
        return Failure(
            .authenticationRequired, "\(sentence), and none that it accepts was given", domain: .http,
            detail: kind == .server ? 401 : 407)
    }

    /// The failure of tasks whose credential was sent but not accepted.
    var refusal: Failure {
        guard kind != .refresh else {
            return Failure(.authenticationRequired, "\(sentence); the last one given was not accepted")
        }
        return Failure(
            .authenticationRequired, "\(sentence), and did not accept the one that was sent", domain: .http,
            detail: kind == .server ? 401 : 407)
    }
}

enum URLPath {
    /// Returns "/a/" for "https://example.org/a/b?c".
    static func directory(of url: String) -> String {
        let path = of(url)
        let end = path.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.endIndex
        return end == path.startIndex ? "/" : String(decoding: path[..<end], as: UTF8.self)
    }

    /// Returns "/a/b" for "https://example.org/a/b?c".
    static func of(_ url: String) -> Substring.UTF8View {
        let whole = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = whole.firstIndex(of: UInt8(ascii: ":")) else { return ""[...].utf8 }
        let rest = whole[colon...].dropFirst(3)
        guard let start = rest.firstIndex(of: UInt8(ascii: "/")) else { return "/"[...].utf8 }
        return rest[start...]
    }
}
