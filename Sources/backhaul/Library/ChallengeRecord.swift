import CBackhaul

/// A server's or a proxy's question for a credential.
struct ChallengeRecord {
    let id: UInt64
    let kind: Int32
    let schemes: UInt32
    let origin: String
    let realm: String?
    let failures: UInt32
    let time: Int64
    let waitingTasks: UInt64

    init(_ challenge: bh_challenge) {
        id = challenge.id
        kind = challenge.kind
        schemes = challenge.schemes
        origin = text(challenge.origin) ?? ""
        realm = text(challenge.realm)
        failures = challenge.failures
        time = challenge.time_ms
        waitingTasks = challenge.waiting_tasks
    }

    var takesPassword: Bool { Int(schemes) & BH_SCHEME_BASIC != 0 }
    var takesToken: Bool { Int(schemes) & BH_SCHEME_BEARER != 0 }

    /// "https://example.org:443 asks for a credential (realm 'Staff')"
    var sentence: String {
        var text = (Int(kind) == BH_CHALLENGE_PROXY ? "The proxy " : "") + origin
        text += failures == 0 ? " asks for a credential" : " did not take the credential and asks again"
        if let realm { text += " (realm '\(realm)')" }
        return text
    }

    var json: JSON {
        .object([
            ("id", .unsigned(id)), ("kind", .string(Names.challengeKind(kind))),
            ("schemes", .array(Names.schemes(schemes).map { .string($0) })), ("origin", .string(origin)),
            ("realm", .optional(realm)), ("failures", .unsigned(UInt64(failures))), ("time_ms", .integer(time)),
            ("waiting_tasks", .unsigned(waitingTasks)),
        ])
    }
}

/// An answer to a challenge.
enum Response {
    case refuse
    case password(user: String, password: String)
    case headers([(name: String, value: String)])

    func response(_ arena: CStringArena) -> bh_response {
        var response = bh_response()
        response.struct_size = MemoryLayout<bh_response>.size
        switch self {
        case .refuse:
            response.kind = Int32(BH_RESPOND_REFUSE)
        case .password(let user, let password):
            response.kind = Int32(BH_RESPOND_CREDENTIAL)
            response.user = arena.string(user)
            response.password = arena.string(password)
        case .headers(let headers):
            response.kind = Int32(BH_RESPOND_HEADERS)
            response.headers = arena.array(
                headers.map { bh_header(name: arena.string($0.name), value: arena.string($0.value)) })
            response.header_count = headers.count
        }
        return response
    }
}
