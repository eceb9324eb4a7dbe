import Backhaul

extension Challenge {
    var isRefresh: Bool { kind == .refresh }
    var isProxy: Bool { kind == .proxy }
    var takesPassword: Bool { !schemes.isDisjoint(with: [.basic, .digest]) }
    /// The option of `backhaul respond` that suits this challenge best.
    var advice: String {
        if isRefresh { return taskID != nil ? "--url URL" : "--header-file FILE" }
        return takesPassword ? "--user NAME" : "--header-file FILE"
    }
    var takesToken: Bool { schemes.contains(.bearer) }

    /// The challenge in words, such as "https://example.org:443 asks for a credential (realm 'Staff')".
    var sentence: String {
        if isRefresh {
            return taskID.map { "Task \($0) needs a new URL at \(origin)" }
                ?? "The transfers from \(origin) need new headers"
        }
        var text = (isProxy ? "The proxy " : "") + origin
        text += failures == 0 ? " asks for a credential" : " rejected the credential and asks for another one"
        if let realm { text += " (realm '\(realm)')" }
        return text
    }

    /// Whether the user name and password would be sent unencrypted.
    var sendsPasswordInClear: Bool { URLArgument.isUnencrypted(origin) && schemes.contains(.basic) }

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
        .record(
            "bh_challenge",
            [
                ("id", .id(id)), ("kind", .word(kind)), ("schemes", .strings(schemes.members)),
                ("origin", .string(origin)), ("realm", .optional(realm)), ("url", .optional(url)),
                ("task_id", .id(taskID)), ("waiting_tasks", .number(waitingTasks)),
                ("time_ms", .number(timeMilliseconds)),
                ("failures", .number(failures)),
            ])
    }
}
