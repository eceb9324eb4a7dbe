internal import CBackhaul

/// Methods for activities (work that repeats), and for the wait records of tasks.
extension Session {
    /// Stores the activity. If the session has an activity with the same identifier, the new activity replaces it.
    ///
    /// The next window of a replaced activity stays the same. It changes only if `firstMilliseconds` is set, or if
    /// `interval` changes. A session has at most 1,000 activities. The role of this object must be consumer or
    /// producer.
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

    /// Returns the wait records of a task, oldest first. Each record says when and why the task waited. If there are
    /// more than 1,000 records, only the newest 1,000 are returned. The task may be in the history. The engine does not
    /// record waits for a slot, for a rate limit or for a response, because these waits are short and frequent.
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
