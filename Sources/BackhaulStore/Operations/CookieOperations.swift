public import BackhaulModel

/// Operations on the persistent cookies of sessions. Each cookie is stored as a line in the format of Netscape's cookie
/// file.
public struct CookieOperations {
    let tables: Tables

    public func all(of session: SessionID) throws(Failure) -> [String] { try tables.cookies.all(of: session) }

    /// Removes and adds lines. A second call with the same lines has no effect. Adds nothing when the session does not
    /// exist, or when it no longer keeps cookies.
    public func change(
        of session: SessionID, adding added: Set<String>, removing removed: Set<String>
    ) throws(Failure) {
        for line in removed { try tables.cookies.remove(line, of: session) }
        guard !added.isEmpty, try tables.sessions.keepsCookies(session) else { return }
        for line in added { try tables.cookies.insert(line, of: session) }
    }
}
