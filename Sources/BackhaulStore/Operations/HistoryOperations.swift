public import BackhaulModel

/// Tasks whose event was acknowledged, as far as their session remembers them.
public struct HistoryOperations {
    let tables: Tables

    /// By id, those with greater ids. Ends early, with `more`, when they have `Limits.chunkSize` bytes together.
    public func tasks(
        of session: SessionID, after: TaskID, maximum: Int
    ) throws(Failure) -> (tasks: [TaskInfo], more: Bool) {
        if let limit = try tables.sessions.history(of: session)?.limit { try trim(session, to: limit) }
        let maximum = min(max(1, maximum), Limits.batchCount)
        var tasks: [TaskInfo] = []
        var room = Limits.chunkSize
        var more = false
        try tables.history.each(of: session, after: after, limit: maximum + 1) { task in
            guard tasks.count < maximum, room > 0 else {
                more = true
                return false
            }
            room -= task.listedSize
            tasks.append(task)
            return true
        }
        return (tasks, more)
    }

    /// Copies the selected events' tasks into the history, the newest of them as far as its limit goes. The tasks
    /// themselves are deleted by the caller. Returns how many the history has then.
    func addSelected(_ session: SessionID, selected: Int64) throws(Failure) -> Int64 {
        guard let (limit, count) = try tables.sessions.history(of: session) else { return 0 }
        guard let limit else {
            try tables.attempts.removeOfSelected(exceptNewest: 0)
            return count
        }
        if selected > limit { try tables.attempts.removeOfSelected(exceptNewest: limit) }
        let now = count + (try tables.history.insertSelected(limit: limit))
        // In batches: each costs a walk over those that stay.
        guard now > limit + max(64, limit / 4) else { return now }
        try trim(session, to: limit)
        return limit
    }

    /// Removes the oldest.
    @inline(never)
    func trim(_ session: SessionID, to limit: Int64) throws(Failure) {
        try tables.attempts.removeOfHistory(session, exceptNewest: limit)
        guard try tables.history.removeOlder(of: session, than: limit) else { return }
        try tables.sessions.setHistoryCount(limit, of: session)
    }

    /// After the configuration has changed, and before the session goes.
    func trim(_ session: SessionID, toConfigured: Bool) throws(Failure) {
        let limit = toConfigured ? try tables.sessions.history(of: session)?.limit ?? 0 : 0
        try trim(session, to: limit)
    }
}

extension TaskInfo {
    /// About what it has in a reply.
    var listedSize: Int {
        200 + url.utf8.count + (destinationPath?.utf8.count ?? 0) + (userData?.count ?? 0)
    }
}
