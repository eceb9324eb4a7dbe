public import BackhaulModel

/// Operations on the history of a session, which is a named collection of tasks. The history lists the newest ended
/// tasks whose event the host has acknowledged. The session limits the number of these tasks.
public struct HistoryOperations {
    let tables: Tables

    /// Returns up to `maximum` tasks with ids greater than `after`, sorted by id. The result ends early when its tasks
    /// have `Limits.chunkSize` bytes together. `more` is true if further tasks exist.
    public func tasks(
        of session: SessionID, after: TaskID, maximum: Int
    ) throws(Failure) -> (tasks: [TaskInfo], more: Bool) {
        if let limit = try tables.sessions.history(of: session)?.limit { try trim(session, to: limit) }
        var page = ListingPage<TaskInfo>(maximum: min(max(1, maximum), Limits.batchCount))
        try tables.history.each(of: session, after: after, limit: page.limit) { task in
            page.add(task, size: task.listedSize)
        }
        return (page.items, page.more)
    }

    /// Copies tasks into the history: the tasks whose events are in the temporary table `selected`. If the history's
    /// limit does not permit all of these tasks, copies only the newest ones. The caller deletes the tasks. Returns the
    /// new number of tasks in the history.
    /// - Parameter selected: The number of events in the table `selected`.
    func addSelected(_ session: SessionID, selected: Int64) throws(Failure) -> Int64 {
        guard let (limit, count) = try tables.sessions.history(of: session) else { return 0 }
        guard let limit else {
            try tables.attempts.removeOfSelected(exceptNewest: 0)
            return count
        }
        var skipped: Int64 = 0
        if selected > limit {
            try tables.attempts.removeOfSelected(exceptNewest: limit)
            skipped = max(0, try tables.events.endCountOfSelected() - limit)
        }
        let now = count + (try tables.history.insertSelected(exceptOldest: skipped))
        // The history is trimmed in batches, because each trim reads all rows that stay.
        guard now > limit + max(64, limit / 4) else { return now }
        try trim(session, to: limit)
        return limit
    }

    /// Removes all but the newest `limit` tasks.
    func trim(_ session: SessionID, to limit: Int64) throws(Failure) {
        try tables.attempts.removeOfHistory(session, exceptNewest: limit)
        guard try tables.history.removeOlder(of: session, than: limit) else { return }
        try tables.sessions.setHistoryCount(limit, of: session)
    }

    /// Trims the history to the configured limit, after a change of the configuration. If `toConfigured` is false,
    /// empties the history, because the caller removes the session next.
    func trim(_ session: SessionID, toConfigured: Bool) throws(Failure) {
        let limit = toConfigured ? try tables.sessions.history(of: session)?.limit ?? 0 : 0
        try trim(session, to: limit)
    }
}

extension TaskInfo {
    /// The approximate size of the task in a reply, in bytes.
    var listedSize: Int {
        200 + url.utf8.count + (destinationPath?.utf8.count ?? 0) + (userData?.count ?? 0)
    }
}
