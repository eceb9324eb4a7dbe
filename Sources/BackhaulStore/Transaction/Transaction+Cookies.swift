public import BackhaulModel

/// The cookies of sessions that keep them, as lines of Netscape's cookie file.
extension Transaction {
    public func cookies(of session: SessionID) throws(Failure) -> [String] {
        try connection.all(Self.select, .id(session)) { row throws(Failure) in row.text() }
    }

    /// Harmless when it is repeated, or when the session is gone or keeps none any more.
    public func changeCookies(
        of session: SessionID, adding added: Set<String>, removing removed: Set<String>
    ) throws(Failure) {
        for line in removed { try connection.run(Self.delete, .id(session), .text(line)) }
        for line in added { try connection.run(Self.insert, .id(session), .text(line)) }
    }

    /// What a session has that keeps none any more.
    func forgetUnkeptCookies(of session: SessionID) throws(Failure) {
        try connection.run(Self.deleteUnkept, .id(session))
    }

    private static let select = Query("SELECT cookie FROM cookies WHERE session_id = ?")
    private static let delete = Query("DELETE FROM cookies WHERE session_id = ? AND cookie = ?")
    private static let insert = Query(
        """
        INSERT OR IGNORE INTO cookies (session_id, cookie)
        SELECT id, ?2 FROM sessions WHERE id = ?1 AND cookies = 3
        """)
    private static let deleteUnkept = Query(
        """
        DELETE FROM cookies WHERE session_id = ?1
        AND session_id NOT IN (SELECT id FROM sessions WHERE id = ?1 AND cookies = 3)
        """)
}
