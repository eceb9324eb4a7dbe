internal import CBackhaul

/// Activities: work that repeats.
extension Session {
    /// Makes the activity, durably, or replaces the one with the same identifier.
    ///
    /// A replaced activity keeps its next window unless `firstMilliseconds` or `interval` changes. A session has at
    /// most 1,000 activities. The session's role must be consumer or producer.
    public func setActivity(_ activity: Activity) async throws {
        let arena = Arena()
        var value = try activity.value(arena)
        try await verb { bh_session_set_activity($0, &value, BH_START, $1) } take: { _ in }
    }

    /// Removes an activity; its tasks continue.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func removeActivity(_ identifier: String) async throws {
        let arena = Arena()
        let name = try arena.string(identifier, "the activity's identifier")
        try await verb { bh_session_remove_activity($0, name, BH_START, $1) } take: { _ in }
    }

    /// The session's activities by identifier.
    public func activities() async throws -> [ActivityInfo] {
        try await listing(bh_session_activities) { $0.activities() }
    }

    /// When and why a task waited: the newest 1,000 wait records, oldest first. The task may be in the history. Waits
    /// for a slot, for a rate and for a response are too short and too many to be recorded.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func waits(_ task: TaskID) async throws -> [Wait] {
        try await verb {
            bh_task_waits($0, task, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.batch().waits()
        }
    }
}
