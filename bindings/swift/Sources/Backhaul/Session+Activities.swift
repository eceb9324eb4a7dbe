internal import CBackhaul

/// Methods for activities, which are work that repeats.
extension Session {
    /// Stores the activity. It replaces an activity with the same identifier.
    ///
    /// The next window of a replaced activity stays, unless `firstMilliseconds` or `interval` changes it. A session has
    /// at most 1,000 activities. The role of this object must be consumer or producer.
    public func setActivity(_ activity: Activity) async throws {
        let arena = Arena()
        var value = try activity.value(arena)
        try await verb { bh_session_set_activity($0, &value, BH_START, $1) } take: { _ in }
    }

    /// Removes an activity. Its tasks continue.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the session has no such activity.
    public func removeActivity(_ identifier: String) async throws {
        let arena = Arena()
        let name = try arena.string(identifier, "the activity's identifier")
        try await verb { bh_session_remove_activity($0, name, BH_START, $1) } take: { _ in }
    }

    /// Returns the session's activities, in the order of their identifiers.
    public func activities() async throws -> [ActivityInfo] {
        try await listing(bh_session_activities) { $0.activities() }
    }

    /// Returns the wait records of a task: when and why it waited. They are the newest 1,000 records, oldest first. The
    /// task may be in the history. Waits for a slot, for a rate limit and for a response are not recorded, because they
    /// are short and frequent.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if neither the list nor the history has the task.
    public func waits(_ task: TaskID) async throws -> [Wait] {
        try await verb {
            bh_task_waits($0, task, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.batch().waits()
        }
    }
}
