internal import BackhaulModel

/// The table `cookies` has the persistent cookies of sessions. Each cookie is a line in the format of Netscape's cookie
/// file.
struct CookieTable {
    let connection: Connection

    func all(of session: SessionID) throws(Failure) -> [String] {
        try connection.all(Self.select, .id(session)) { row throws(Failure) in row.text() }
    }

    func insert(_ line: String, of session: SessionID) throws(Failure) {
        try connection.run(Self.insert, .id(session), .text(line))
    }

    func remove(_ line: String, of session: SessionID) throws(Failure) {
        try connection.run(Self.remove, .id(session), .text(line))
    }

    func removeAll(of session: SessionID) throws(Failure) { try connection.run(Self.removeAll, .id(session)) }

    private static let select = Query("SELECT cookie FROM cookies WHERE session_id = ?")
    private static let remove = Query("DELETE FROM cookies WHERE session_id = ? AND cookie = ?")
    private static let insert = Query("INSERT OR IGNORE INTO cookies (session_id, cookie) VALUES (?, ?)")
    private static let removeAll = Query("DELETE FROM cookies WHERE session_id = ?")
}
