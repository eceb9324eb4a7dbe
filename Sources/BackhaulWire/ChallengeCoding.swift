internal import BackhaulModel

/// Writes and reads challenges in the binary form of docs/wire.md. The engine, which runs the transfers, sends the
/// challenge.
extension Challenge: WireRecord, WireElement {
    static var minimumSize: Int { 40 }
    static var blank: Challenge {
        Challenge(
            id: ChallengeID(rawValue: 0), space: ProtectionSpace(kind: .server, origin: "", realm: nil), schemes: [],
            failures: 0, timeMilliseconds: 0, waitingTasks: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&space.kind)
        try coder.field(&space.origin)
        try coder.field(&space.realm)
        try coder.field(&schemes)
        try coder.field(&failures)
        try coder.field(&timeMilliseconds)
        try coder.field(&waitingTasks)
        try coder.field(&space.task)
        try coder.field(&url)
    }
}

extension CredentialLifetime: WireRecord {
    static var blank: CredentialLifetime { CredentialLifetime() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&expiresMilliseconds)
        try coder.field(&isKept)
    }
}

extension ChallengeResponse: WireValue {
    enum Form: UInt8 { case refuse = 1, credential, headers, standard, url }

    func write(to coder: inout Coder) {
        switch self {
        case .refuse: coder.put(Form.refuse)
        case .credential(let user, let password): coder.put(Form.credential, user, password)
        case .headers(let headers): coder.put(Form.headers, headers)
        case .standard: coder.put(Form.standard)
        case .url(let url): coder.put(Form.url, url)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> ChallengeResponse {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .refuse: .refuse
        case .credential: .credential(user: try coder.next(), password: try coder.next())
        case .headers: .headers(try coder.next())
        case .standard: .standard
        case .url: .url(try coder.next())
        // The error does not show the bytes after the tag, because these bytes may be a secret.
        case nil: throw Malformed("it has an unknown form of response")
        }
    }
}
