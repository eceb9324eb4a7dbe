/// What a 401 or 407 asks for (RFC 9110, sections 15.5.2 and 15.5.8).
public struct AuthenticationDemand: Hashable, Sendable {
    public var space: ProtectionSpace
    public var schemes: AuthenticationSchemes
    /// The path of the directory whose files are taken to be in the same space (RFC 7617, section 2.2); "/" of a proxy.
    public var scope: String
    /// The request carried a credential, which was not accepted.
    public var credentialWasRejected = false

    init(space: ProtectionSpace, schemes: AuthenticationSchemes, scope: String) {
        self.space = space
        self.schemes = schemes
        self.scope = scope
    }

    /// Nil for other answers, and for a 407 where no proxy is known: then it is no more than an odd status.
    ///
    /// The realm is that of the challenge that is answered best: by a credential, Digest before Basic, then by Bearer,
    /// then the first that has one. The field must be there, and servers forget it: without a realm and with the scheme
    /// "other", headers can answer.
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
        let offered = AuthenticationField.schemes(head.texts(field))
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

extension AuthenticationDemand {
    /// The failure of a task without an accepted credential.
    public var failure: Failure { credentialWasRejected ? space.refusal : space.failure }
}

extension AuthenticationSchemes {
    /// Lower case.
    init(name: String) {
        switch name {
        case "basic": self = .basic
        case "bearer": self = .bearer
        case "digest": self = .digest
        case "negotiate": self = .negotiate
        default: self = .other
        }
    }

    /// By which of the offered schemes a user name and password are given: the strongest, and only that, so that nobody
    /// on the way gets the password by taking Digest off the list. Both empty: the user's own ticket.
    static func strongest(of offered: AuthenticationSchemes, for response: ChallengeResponse) -> AuthenticationSchemes {
        guard case .credential(let user, let password) = response else { return [] }
        if user.isEmpty, password.isEmpty { return .negotiate }
        return offered.contains(.digest) ? .digest : .basic
    }

    /// "Basic, Bearer", for messages.
    public var names: String {
        let all: [(AuthenticationSchemes, String)] = [
            (.basic, "Basic"), (.bearer, "Bearer"), (.digest, "Digest"), (.negotiate, "Negotiate"),
            (.other, "another scheme"),
        ]
        return all.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension ProtectionSpace {
    /// One sentence, without its end.
    public var sentence: String {
        if kind == .refresh {
            return task == nil
                ? "the headers of requests to \(origin) have expired, and new ones are asked for"
                : "the URL of the request to \(origin) has expired, and a new one is asked for"
        }
        let who = kind == .server ? "the server" : "the proxy"
        guard let realm else { return "\(who) \(origin) asks for a credential and names no realm" }
        return "\(who) \(origin) asks for a credential for its realm \"\(realm)\""
    }
}

extension ProtectionSpace {
    /// Of tasks that get no credential.
    public var failure: Failure {
        guard kind != .refresh else {
            return Failure(.authenticationRequired, "\(sentence); none that serves was given")
        }
        return Failure(
            .authenticationRequired, "\(sentence), and none that it accepts was given", domain: .http,
            detail: kind == .server ? 401 : 407)
    }

    /// Of tasks whose credential was sent and not accepted.
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
    /// "/a/" of "https://example.org/a/b?c"
    static func directory(of url: String) -> String {
        let path = of(url)
        let end = path.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.endIndex
        return end == path.startIndex ? "/" : String(decoding: path[..<end], as: UTF8.self)
    }

    /// "/a/b" of "https://example.org/a/b?c"
    static func of(_ url: String) -> Substring.UTF8View {
        let whole = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = whole.firstIndex(of: UInt8(ascii: ":")) else { return ""[...].utf8 }
        let rest = whole[colon...].dropFirst(3)
        guard let start = rest.firstIndex(of: UInt8(ascii: "/")) else { return "/"[...].utf8 }
        return rest[start...]
    }
}
