/// Methods for activities, and for the wait records of tasks. An activity is work that repeats. The engine starts the
/// work one time in each *window*, which is a period of time.
extension Session {
    /// Stores the activity. If the session has an activity with the same identifier, the new activity replaces it.
    ///
    /// If an activity is replaced, its next window changes only if `firstMilliseconds` is set to another time, or if
    /// `interval` changes. A session has at most 1,000 activities. The role of this object must be `Role.consume` or
    /// `Role.produce`.
    public func setActivity(_ activity: Activity) async throws { try await run(.setActivity(activity)) }

    /// Removes an activity. Its tasks continue.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the session has no such activity.
    public func removeActivity(_ identifier: String) async throws { try await run(.removeActivity(identifier)) }

    /// Returns the session's activities, in the order of their identifiers.
    public func activities() async throws -> [ActivityInfo] { try await run(.activities) }

    /// Returns the wait records of a task, oldest first. Each record says when and why the task waited. If there are
    /// more than 1,000 records, only the newest 1,000 are returned. The task may be in the history, which lists tasks
    /// whose end was acknowledged. Three kinds of waits are short and frequent, so the engine does not record them:
    /// waits for the end of other tasks, for a rate limit, and for a response.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the task is not in the session's list of tasks, and not in the
    ///   history.
    public func waits(_ task: TaskID) async throws -> [Wait] { try await run(.waits(task)) }
}
