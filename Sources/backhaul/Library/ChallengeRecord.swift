import CBackhaul

/// A copy of a challenge. In a challenge, a server or proxy demands a credential, or the engine (the process that runs
/// the transfers) demands new headers or a new URL.
struct ChallengeRecord {
    let id: UInt64
    let kind: Int32
    let schemes: UInt32
    let origin: String
    let realm: String?
    let failures: UInt32
    let time: Int64
    let waitingTasks: UInt64
    /// The task that needs a new URL. 0 for any other challenge.
    let task: UInt64
    let url: String?

    init(_ challenge: bh_challenge) {
        id = challenge.id
        kind = challenge.kind
        schemes = challenge.schemes
        origin = text(challenge.origin) ?? ""
        realm = text(challenge.realm)
        failures = challenge.failures
        time = challenge.time_ms
        waitingTasks = challenge.waiting_tasks
        task = challenge.task_id
        url = text(challenge.url)
    }

    var isRefresh: Bool { Int(kind) == BH_CHALLENGE_REFRESH }
    var isProxy: Bool { Int(kind) == BH_CHALLENGE_PROXY }
    var takesPassword: Bool { Int(schemes) & (BH_SCHEME_BASIC | BH_SCHEME_DIGEST) != 0 }
    /// The option of `backhaul respond` that suits this challenge best.
    var advice: String {
        if isRefresh { return task != 0 ? "--url URL" : "--header-file FILE" }
        return takesPassword ? "--user NAME" : "--header-file FILE"
    }
    var takesToken: Bool { Int(schemes) & BH_SCHEME_BEARER != 0 }

    /// The challenge in words, such as "https://example.org:443 asks for a credential (realm 'Staff')".
    var sentence: String {
        if isRefresh {
            return task != 0
                ? "Task \(task) needs a new URL at \(origin)" : "The transfers from \(origin) need new headers"
        }
        var text = (isProxy ? "The proxy " : "") + origin
        text += failures == 0 ? " asks for a credential" : " rejected the credential and asks for another one"
        if let realm { text += " (realm '\(realm)')" }
        return text
    }

    /// Whether the user name and password would be sent unencrypted.
    var sendsPasswordInClear: Bool { origin.hasPrefix("http://") && Int(schemes) & BH_SCHEME_BASIC != 0 }

    /// A sentence that says what the server demands, such as
    /// `http://example.org asks for a user name and a password (for what it calls "Staff")`.
    var requestSentence: String {
        if isRefresh { return sentence }
        let who = (isProxy ? "the proxy " : "") + origin
        let what = takesPassword ? "a user name and a password" : takesToken ? "a token" : "a login"
        let area = realm.map { " (for what it calls \"\($0)\")" } ?? ""
        return failures == 0
            ? "\(who) asks for \(what)\(area)" : "\(who) rejected the credential, and still asks for \(what)\(area)"
    }

    var json: JSON {
        .record(of: bh_challenge.self, [
            ("id", .number(id)), ("kind", .string(Names.challengeKind(kind))),
            ("schemes", .strings(Names.schemes(schemes))), ("origin", .string(origin)), ("realm", .optional(realm)),
            ("url", .optional(url)), ("task_id", .number(unlessZero: task)), ("waiting_tasks", .number(waitingTasks)),
            ("time_ms", .integer(time)), ("failures", .number(failures)),
        ])
    }
}
