public import BackhaulModel

/// What hosts have given for challenges: credentials that the next engine is to have, too, and headers and URLs in the
/// place of expired ones.
///
/// The requests stay as they were enqueued, so that the same request with its idempotency key still finds its task;
/// what was given is laid over them.
public struct CredentialOperations {
    let tables: Tables

    /// Replaces an earlier one of the protection space.
    public func keep(_ answer: KeptAnswer, of session: SessionID) throws(Failure) {
        try tables.keptAnswers.write(answer, of: session)
    }

    /// It did not serve, or there is a newer one. Harmless when there is none.
    public func forget(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try tables.keptAnswers.remove(space, of: session)
    }

    /// Those of all sessions.
    public func kept() throws(Failure) -> [(session: SessionID, answer: KeptAnswer)] {
        try tables.keptAnswers.all()
    }

    /// Writes the answer down for the tasks that it is for: with headers all live ones of the origin that refresh them,
    /// with a URL the one task, which goes to that origin's lane. The tasks stay as they are until they are released.
    public func refresh(
        _ challenge: Challenge, with answer: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        if let task = challenge.space.task { return try refresh(task, with: answer, origin: origin, in: session) }
        let newest = try tables.tasks.newest()
        for lane in try tables.delays.lanes(of: challenge.id, areFreed: false) {
            var refreshed = answer
            let before = try tables.refreshes.headers(of: lane)?.refreshed.headers ?? []
            refreshed.headers = before.replacing(answer.headers)
            try tables.refreshes.writeHeaders(refreshed, challenge: challenge.id, of: lane, through: newest)
        }
    }

    private func refresh(
        _ task: TaskID, with answer: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        let before = try tables.refreshes.request(of: task)
        var refreshed = answer
        refreshed.url = answer.url ?? before?.url
        refreshed.headers = (before?.headers ?? []).replacing(answer.headers)
        try tables.refreshes.writeRequest(refreshed, of: task)
        guard answer.url != nil, let origin else { return }
        // The host says that it is the same file. Without a strong entity tag and a size nothing else does.
        try tables.parts.forgetAddress(of: task)
        let old = try tables.tasks.lane(of: task)
        let new = try tables.lanes.findOrInsert(session, origin)
        guard let old, old != new else { return }
        try tables.tasks.move(task, to: new)
        try tables.lanes.removeEmpty(among: [old])
    }

    /// What is laid over the task's request, nil when nothing is.
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
