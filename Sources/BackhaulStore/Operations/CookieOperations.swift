public import BackhaulModel

/// The cookies of sessions that keep them, as lines of Netscape's cookie file.
public struct CookieOperations {
    let tables: Tables

    public func all(of session: SessionID) throws(Failure) -> [String] { try tables.cookies.all(of: session) }

    /// Harmless when it is repeated, or when the session is gone or keeps no cookies any more.
    public func change(
        of session: SessionID, adding added: Set<String>, removing removed: Set<String>
    ) throws(Failure) {
        for line in removed { try tables.cookies.remove(line, of: session) }
        guard !added.isEmpty, try tables.sessions.keepsCookies(session) else { return }
        for line in added { try tables.cookies.insert(line, of: session) }
    }
}
