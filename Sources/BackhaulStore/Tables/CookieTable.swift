public import BackhaulModel

/// The table `cookies` has the persistent cookies of sessions. Each cookie is a line in the format of Netscape's cookie
/// file.
public struct CookieTable {
    let connection: Connection

    public func all(of session: SessionID) throws(Failure) -> [String] {
        try connection.all(Self.select, .id(session)) { row throws(Failure) in row.text() }
    }

    /// Removes and adds lines. A second call with the same lines has no effect. Adds nothing when the session does not
    /// exist, or when it no longer keeps cookies.
    public func change(
        of session: SessionID, adding added: Set<String>, removing removed: Set<String>
    ) throws(Failure) {
        for line in removed { try connection.run(Self.remove, .id(session), .text(line)) }
        for line in added { try connection.run(Self.insert, .id(session), .text(line)) }
    }

    func removeAll(of session: SessionID) throws(Failure) { try connection.run(Self.removeAll, .id(session)) }

    private static let select = Query("SELECT cookie FROM cookies WHERE session_id = ?")
    private static let remove = Query("DELETE FROM cookies WHERE session_id = ? AND cookie = ?")
    private static let insert = Query(
        "INSERT OR IGNORE INTO cookies (session_id, cookie) SELECT ?1, ?2 WHERE \(SessionTable.keepsCookies)")
    private static let removeAll = Query("DELETE FROM cookies WHERE session_id = ?")
}
