public import BackhaulModel

/// Operations on what hosts have given for challenges: credentials that the next engine needs too, and replacements for
/// expired headers and URLs.
///
/// The rows of requests do not change, so that the same request with its idempotency key still finds its task. The
/// replacements are applied when a task is read.
public struct CredentialOperations {
    let tables: Tables

    /// Stores the credential. It replaces an earlier credential of the same protection space.
    public func keep(_ credential: StoredCredential, of session: SessionID) throws(Failure) {
        try tables.storedCredentials.write(credential, of: session)
    }

    /// Removes the credential, because the server rejected it or a newer one exists. Does nothing when there is none.
    public func forget(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try tables.storedCredentials.remove(space, of: session)
    }

    /// Returns the credentials of all sessions.
    public func kept() throws(Failure) -> [(session: SessionID, credential: StoredCredential)] {
        try tables.storedCredentials.all()
    }

    /// Stores the host's replacement of expired headers or of a URL. Headers apply to all live tasks of the lane that
    /// refresh their headers. A URL applies to one task, which moves to the lane of the new origin. The state of the
    /// tasks does not change until they are released.
    public func refresh(
        _ challenge: Challenge, with replacement: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        if let task = challenge.space.task { return try refresh(task, with: replacement, origin: origin, in: session) }
        let newest = try tables.tasks.newest()
        for lane in try tables.delays.lanes(of: challenge.id, areReleased: false) {
            var refreshed = replacement
            let before = try tables.refreshes.headers(of: lane)?.refreshed.headers ?? []
            refreshed.headers = before.replacing(replacement.headers)
            try tables.refreshes.writeHeaders(refreshed, challenge: challenge.id, of: lane, through: newest)
        }
    }

    private func refresh(
        _ task: TaskID, with replacement: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        let before = try tables.refreshes.request(of: task)
        var refreshed = replacement
        refreshed.url = replacement.url ?? before?.url
        refreshed.headers = (before?.headers ?? []).replacing(replacement.headers)
        try tables.refreshes.writeRequest(refreshed, of: task)
        guard replacement.url != nil, let origin else { return }
        // With the new URL the host states that the file is the same. Only a strong entity tag with a size can confirm
        // this.
        try tables.parts.forgetURL(of: task)
        let old = try tables.tasks.lane(of: task)
        let new = try tables.lanes.findOrInsert(session, origin)
        guard let old, old != new else { return }
        try tables.tasks.move(task, to: new)
        try tables.lanes.removeEmpty(among: [old])
    }

    /// Returns the replacement for the task's request, or nil when there is none.
    func refreshed(for task: StoredTask) throws(Failure) -> RefreshedRequest? {
        switch task.request.options.refresh {
        case .none: return nil
        case .headers:
            guard let found = try tables.refreshes.headers(of: task.lane), task.id <= found.through else { return nil }
            return found.refreshed
        case .url: return try tables.refreshes.request(of: task.id)
        }
    }
}
