public import BackhaulModel

/// Answers to challenges that the host wants the next engine to have, too. The database has mode 0600.
extension Transaction {
    /// In the place of an earlier one.
    public func keep(_ answer: KeptAnswer, of session: SessionID) throws(Failure) {
        var (user, password, headers): (String?, String?, [HeaderField]) = (nil, nil, [])
        switch answer.response {
        case .credential(let name, let secret): (user, password) = (name, secret)
        case .headers(let fields): headers = fields
        case .refuse, .standard, .url: return
        }
        let space = answer.space
        try connection.run(
            Self.insert, .id(session), .number(space.kind.rawValue), .text(space.origin), .flag(space.realm != nil),
            .text(space.realm ?? ""), .optional(user), .optional(password), .optional(HeaderBlob.pack(headers)),
            .optional(answer.expiresMilliseconds), .id(answer.challenge), .number(answer.schemes.rawValue))
    }

    /// It did not serve, or there is a newer one. Harmless when there is none.
    public func forgetKept(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try connection.run(
            Self.delete, .id(session), .number(space.kind.rawValue), .text(space.origin), .flag(space.realm != nil),
            .text(space.realm ?? ""))
    }

    /// Of all sessions.
    public func keptAnswers() throws(Failure) -> [(session: SessionID, answer: KeptAnswer)] {
        try connection.all(Self.selectAll) { row throws(Failure) in
            let session = row.sessionID()
            let kind = ProtectionSpace.Kind(rawValue: row.number()) ?? .server
            let origin = row.text()
            let hasRealm = row.flag()
            let realm = row.text()
            let (user, password) = (row.optionalText(), row.text())
            let headers = try HeaderBlob.unpack(row.optionalBlob())
            let expires = row.optionalInteger()
            let response = user.map { ChallengeResponse.credential(user: $0, password: password) } ?? .headers(headers)
            return (
                session,
                KeptAnswer(
                    space: ProtectionSpace(kind: kind, origin: origin, realm: hasRealm ? realm : nil),
                    challenge: row.challengeID(), schemes: AuthenticationSchemes(rawValue: row.number()),
                    response: response, expiresMilliseconds: expires)
            )
        }
    }

    private static let insert = Query(
        """
        INSERT OR REPLACE INTO kept_answers (session_id, kind, origin, has_realm, realm, user, password, headers,
            expires_ms, challenge_id, schemes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let delete = Query(
        "DELETE FROM kept_answers WHERE session_id = ? AND kind = ? AND origin = ? AND has_realm = ? AND realm = ?")
    private static let selectAll = Query(
        """
        SELECT session_id, kind, origin, has_realm, realm, user, password, headers, expires_ms, challenge_id, schemes
        FROM kept_answers
        """)
}
