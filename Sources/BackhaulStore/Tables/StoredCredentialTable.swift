internal import BackhaulModel

/// The table `stored_credentials` has credentials that stay valid after a restart of the engine. A credential is stored
/// only if the host has requested this. Only the user may read the database's file (mode 0600).
struct StoredCredentialTable {
    let connection: Connection

    func write(_ credential: StoredCredential, of session: SessionID) throws(Failure) {
        var (user, password, headers): (String?, String?, [HeaderField]) = (nil, nil, [])
        switch credential.response {
        case .credential(let name, let secret): (user, password) = (name, secret)
        case .headers(let fields): headers = fields
        case .refuse, .standard, .url: return
        }
        let space = credential.space
        try connection.run(
            Self.write, .id(session), .number(space.kind.rawValue), .text(space.origin), .flag(space.realm != nil),
            .text(space.realm ?? ""), .optional(user), .optional(password), .optional(HeaderBlob.pack(headers)),
            .optional(credential.expiresMilliseconds), .id(credential.challenge), .number(credential.schemes.rawValue))
        try connection.run(
            Self.removeOldest, .id(session), .number(space.kind.rawValue), .text(space.origin),
            .number(UInt32(SessionCredentials.credentialLimit)))
    }

    func remove(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try connection.run(
            Self.remove, .id(session), .number(space.kind.rawValue), .text(space.origin), .flag(space.realm != nil),
            .text(space.realm ?? ""))
    }

    /// Removes the secrets of credentials that have expired. The rows stay, and have expired whatever the clock says,
    /// so that a challenge is opened before the next request. `now`: Unix milliseconds.
    func clearExpired(now: Int64) throws(Failure) { try connection.run(Self.clearExpired, .integer(now)) }

    func all() throws(Failure) -> [(session: SessionID, credential: StoredCredential)] {
        try connection.all(Self.selectAll, read: Self.credential)
    }

    private static func credential(_ row: inout Row) throws(Failure) -> (
        session: SessionID, credential: StoredCredential
    ) {
        let session = row.sessionID("session_id")
        let kind = ProtectionSpace.Kind(rawValue: row.number("kind")) ?? .server
        let origin = row.text("origin")
        let hasRealm = row.flag("has_realm")
        let realm = row.text("realm")
        let (user, password) = (row.optionalText("user"), row.text("password"))
        let headers = try HeaderBlob.unpack(row.optionalBlob("headers"))
        let expires = row.optionalInteger("expires_ms")
        let response = user.map { ChallengeResponse.credential(user: $0, password: password) } ?? .headers(headers)
        return (
            session,
            StoredCredential(
                space: ProtectionSpace(kind: kind, origin: origin, realm: hasRealm ? realm : nil),
                challenge: row.challengeID("challenge_id"),
                schemes: AuthenticationSchemes(rawValue: row.number("schemes")), response: response,
                expiresMilliseconds: expires)
        )
    }

    private static let write = Query(
        """
        INSERT OR REPLACE INTO stored_credentials (session_id, kind, origin, has_realm, realm, user, password, headers,
            expires_ms, challenge_id, schemes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let remove = Query(
        """
        DELETE FROM stored_credentials
        WHERE session_id = ? AND kind = ? AND origin = ? AND has_realm = ? AND realm = ?
        """)
    /// Removes the oldest credential of a server or proxy that has more credentials than the limit.
    private static let removeOldest = Query(
        """
        DELETE FROM stored_credentials
        WHERE (session_id, kind, origin) = (?1, ?2, ?3) AND challenge_id = (
            SELECT min(challenge_id) FROM stored_credentials WHERE (session_id, kind, origin) = (?1, ?2, ?3)
            HAVING count(*) > ?4)
        """)
    private static let clearExpired = Query(
        """
        UPDATE stored_credentials SET user = NULL, password = NULL, headers = NULL, expires_ms = 0
        WHERE expires_ms <= ? AND (user IS NOT NULL OR headers IS NOT NULL)
        """)
    private static let selectAll = Query(credential, "FROM stored_credentials")
}
