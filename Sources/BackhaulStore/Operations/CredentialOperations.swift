public import BackhaulModel

/// Operations on what hosts give in response to challenges. Credentials are stored, because the next engine also needs
/// them.
///
/// New headers and URLs do not change the stored rows of requests. They are applied when a task is read. So if the host
/// sends the original request with the same idempotency key again, the request still matches its row, and the host gets
/// the first task.
public struct CredentialOperations {
    let tables: Tables

    /// Stores the credential. It replaces an earlier credential of the same protection space, which is where a
    /// credential is valid.
    public func keep(_ credential: StoredCredential, of session: SessionID) throws(Failure) {
        try tables.storedCredentials.write(credential, of: session)
    }

    /// Removes the credential, because the server rejected it or a newer credential exists. Does nothing when no
    /// credential is stored.
    public func forget(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try tables.storedCredentials.remove(space, of: session)
    }

    /// Removes the secrets of credentials that have expired. `now`: Unix milliseconds.
    public func clearExpired(now: Int64) throws(Failure) { try tables.storedCredentials.clearExpired(now: now) }

    /// Returns the credentials of all sessions.
    public func kept() throws(Failure) -> [(session: SessionID, credential: StoredCredential)] {
        try tables.storedCredentials.all()
    }

    /// Stores the headers or the URL with which the host replaces expired ones. New headers apply to each live task of
    /// the lane whose request can get new headers (`RequestOptions.refresh`). A new URL applies to one task, which
    /// moves to the lane of the new origin. The tasks still wait until `ChallengeOperations.releaseTasks` makes them
    /// ready. Returns the newest task to which new headers apply.
    @discardableResult
    public func refresh(
        _ challenge: Challenge, with replacement: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) -> TaskID? {
        if let task = challenge.space.task {
            try refresh(task, with: replacement, origin: origin, in: session)
            return nil
        }
        let newest = try tables.tasks.newest()
        for lane in try tables.delays.lanes(of: challenge.id, areReleased: false) {
            var refreshed = replacement
            let before = try tables.refreshes.headers(of: lane)?.refreshed.headers ?? []
            refreshed.headers = before.replacing(replacement.headers)
            try tables.refreshes.writeHeaders(refreshed, challenge: challenge.id, of: lane, through: newest)
        }
        return newest
    }

    /// Stores the replacement for one task. Does nothing when the task does not exist.
    private func refresh(
        _ task: TaskID, with replacement: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        guard let old = try tables.tasks.lane(of: task) else { return }
        let before = try tables.refreshes.request(of: task)
        var refreshed = replacement
        refreshed.url = replacement.url ?? before?.url
        refreshed.headers = (before?.headers ?? []).replacing(replacement.headers)
        try tables.refreshes.writeRequest(refreshed, of: task)
        guard replacement.url != nil, let origin else { return }
        // When the host gives a new URL, it states that the file is the same. Only a strong entity tag, together with a
        // size, can confirm this. So a checkpoint that lacks one of them is removed.
        try tables.parts.forgetURL(of: task)
        let new = try tables.lanes.findOrInsert(session, origin)
        guard old != new else { return }
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
