internal import CBackhaul

/// Work that repeats.
extension Session {
    /// Makes the activity, durably, or takes the place of the one with its identifier, whose next window stays unless
    /// `firstMilliseconds` or `interval` is another. At most 1,000 in a session. Consumers and producers.
    public func setActivity(_ activity: Activity) async throws {
        let arena = Arena()
        var value = try activity.value(arena)
        try await verb { bh_session_set_activity_start($0, &value, $1, $2) } take: { _ in }
    }

    /// Removes it; tasks that it has made go on.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func removeActivity(_ identifier: String) async throws {
        let arena = Arena()
        let name = try arena.string(identifier, "the activity's identifier")
        try await verb { bh_session_remove_activity_start($0, name, $1, $2) } take: { _ in }
    }

    /// The session's activities by identifier.
    public func activities() async throws -> [ActivityInfo] {
        try await verb(bh_session_activities_start) { answer throws(BackhaulError) in
            try answer.batch().activities()
        }
    }

    /// When and why a task that is listed or in the history has waited, oldest first; of many the newest 1,000. Waits
    /// for a turn, for a rate and for an answer are too short and too many to be kept.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func waits(_ task: TaskID) async throws -> [Wait] {
        try await verb {
            bh_task_waits_start($0, task, $1, $2)
        } take: { answer throws(BackhaulError) in
            try answer.batch().waits()
        }
    }
}
