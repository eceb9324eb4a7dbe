public import BackhaulModel

/// Ends tasks. The end of a task, and the event that reports the end to the program, are written in one transaction.
public struct EndingOperations {
    let tables: Tables
    private var events: EventOperations { EventOperations(tables: tables) }
    private var taskEnds: TaskEndOperations { TaskEndOperations(tables: tables) }

    /// Ends one task. Returns nil when the task has ended already or does not exist. `attempt` is the task's last
    /// attempt. It is nil if that attempt was recorded already, in the same transaction as the finish intent.
    public func record(
        _ task: TaskID, _ outcome: Outcome, now: Int64, readsEvents: Bool = false, attempt: Attempt? = nil
    ) throws(Failure) -> Change? {
        try record([TaskEnd(task, outcome, attempt: attempt)], now: now, readsEvents: readsEvents)
    }

    /// Ends tasks of one session, and the tasks that waited for them: writes their outcomes and events. If all tasks of
    /// the session have ended, closes the round with a `session finished` event. Tasks that have ended or do not exist
    /// are skipped; returns nil when all tasks are skipped. If `readsEvents` is true, the result contains the new
    /// events.
    public func record(_ ends: [TaskEnd], now: Int64, readsEvents: Bool) throws(Failure) -> Change? {
        var found = try taskEnds.record(ends, now: now)
        guard let change = found, readsEvents else { return found }
        // Each end may have an event of the task's group, and the last one an event of the round.
        let maximum = 2 * change.tasks.count + 1
        found?.events = try events.poll(change.session, after: change.previousEvent, maximum: maximum).events
        return found
    }

    /// Closes the challenge, and ends its tasks as failed.
    public func failTasks(of challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) -> Change {
        try taskEnds.failTasks(of: challenge, in: session, now: now)
    }
}
