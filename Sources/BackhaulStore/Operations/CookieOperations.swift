public import BackhaulModel

/// The persistent cookies of sessions, as lines of Netscape's cookie file.
public struct CookieOperations {
    let tables: Tables

    public func all(of session: SessionID) throws(Failure) -> [String] { try tables.cookies.all(of: session) }

    /// A second call has no effect. Nothing is added when the session is gone or has no persistent cookies any more.
    public func change(
        of session: SessionID, adding added: Set<String>, removing removed: Set<String>
    ) throws(Failure) {
        for line in removed { try tables.cookies.remove(line, of: session) }
        guard !added.isEmpty, try tables.sessions.keepsCookies(session) else { return }
        for line in added { try tables.cookies.insert(line, of: session) }
    }
}
