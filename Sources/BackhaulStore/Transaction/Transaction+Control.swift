public import BackhaulModel

extension Transaction {
    /// Cancels, suspends, resumes or reprioritises the live tasks of the selection. Tasks with a recorded intent are
    /// passed over: they are ending. So are those that already are as asked for; a resume also sends delayed ones to
    /// their next attempt, but not those that wait for a credential or for their earliest start. `running`: which of
    /// the waiting rows run at this moment. `calendar`: now, by the calendar of the rows' ages; nil: `now`.
    /// `bootMilliseconds`: the same moment on the clock of this boot. `held`: lanes and constraints whose tasks the
    /// engine holds, so that those of the selection are counted.
    public func control(
        _ session: SessionID, _ control: TaskControl, _ selection: TaskSelection, running: Set<TaskID>, now: Int64,
        calendar: Int64? = nil, bootMilliseconds: Int64 = 0, held: [LaneID: Set<ConstraintsID>] = [:]
    ) throws(Failure) -> Change {
        var change = try change(in: session)
        let clock = StartClock(wall: now, boot: bootMilliseconds, calendar: calendar ?? now)
        if !held.isEmpty {
            try select(selection, of: session, running: running, which: LiveTasks(waiting: true))
            change.held = try countOfSelectedTasks(in: held)
        }
        try select(selection, of: session, running: running, which: tasksChanged(by: control))
        if case .reschedule(let starts) = control {
            let rescheduled = try rescheduleSelectedTasks(starts, of: session, running: running, clock)
            change.restated = rescheduled.restated
            if rescheduled.hasDelayed { change.nextDue = try nextDue() }
        }
        change.tasks = try selectedTasks()
        change.count = UInt64(change.tasks.count)
        if change.count > 0 {
            change.lanes = try lanesOfSelectedTasks()
            if case .setConstraints(let constraints) = control {
                change.restated = try restateSelectedTasks(constraints, of: session)
            }
            try apply(control, to: session, count: Int64(change.tasks.count), now: now, calendar: clock.calendar)
            if control == .resume, try delayStartsOfSelectedTasks(clock) { change.nextDue = try nextDue() }
            change.closedChallenges = try closeChallengesWithoutTasks(session)
            let after = try self.change(in: session)
            change.newestEvent = after.newestEvent
            change.needsHost = after.needsHost
        }
        try clearSelection()
        return change
    }

    /// Lets no further task be enqueued. With `cancelTasks` its tasks end as cancelled; else they end as they may. The
    /// session goes when all have ended and all events are acknowledged, which can be at once.
    public func invalidate(_ session: SessionID, cancelTasks: Bool, now: Int64) throws(Failure) -> Change {
        var change = try change(in: session)
        try connection.run(Self.invalidate, .id(session))
        try connection.run(Self.removeActivities, .id(session))
        if cancelTasks { change = try control(session, .cancel, TaskSelection(), running: [], now: now) }
        change.sessionRemoved = try removeIfOver(session)
        return change
    }

    /// Removes a session that is being invalidated and has neither tasks nor events.
    func removeIfOver(_ session: SessionID) throws(Failure) -> Bool {
        guard try connection.first(Self.selectIfOver, .id(session), read: { row throws(Failure) in row.flag() }) == true
        else { return false }
        try trimHistory(session, toConfigured: false)
        try connection.run(Self.remove, .id(session))
        return true
    }

    private func tasksChanged(by control: TaskControl) -> LiveTasks {
        switch control {
        case .cancel: LiveTasks(waiting: true, suspended: true)
        case .suspend: LiveTasks(waiting: true)
        case .resume: LiveTasks(delayed: true, suspended: true)
        case .setPriority(let priority): LiveTasks(waiting: true, suspended: true, priorityOtherThan: priority)
        case .setRate, .setConstraints, .reschedule: LiveTasks(waiting: true, suspended: true)
        }
    }

    private func apply(
        _ control: TaskControl, to session: SessionID, count: Int64, now: Int64, calendar: Int64
    ) throws(Failure) {
        switch control {
        case .suspend: try connection.run(Self.suspend, .integer(calendar))
        case .resume:
            try recordSuspensionsOfSelectedTasks(session, count: Int(clamping: count), now: calendar)
            try connection.run(Self.resume, .integer(calendar))
        case .setPriority(let priority):
            try connection.run(Self.setPriority, .number(priority))
            if priority >= Limits.priorityNow { try connection.run(Self.endDelays) }
        case .setRate(let rate): try setRateOfSelectedTasks(rate)
        case .setConstraints, .reschedule: break
        case .cancel:
            let groups = try groupsOfSelectedTasks(endingAs: .cancelled)
            try connection.run(Self.cancel, .integer(now), .number(Status.cancelled.rawValue))
            try leavePartsOfSelectedTasks()
            try connection.run(Self.dropCheckpoints)
            try connection.run(Self.insertEvents, .integer(now))
            try settle(session, ended: count, groups: groups, now: now)
        }
    }

    private static let suspend = Query(
        """
        UPDATE tasks SET state = 3, due_boot_ms = NULL, due_reason = 0, challenge_id = NULL, suspended_since_ms = ?
        WHERE id IN selected
        """)
    private static let resume = Query(
        """
        UPDATE tasks SET state = 1, due_boot_ms = NULL, due_reason = 0,
            suspended_ms = suspended_ms + ifnull(max(0, ?1 - suspended_since_ms), 0),
            own_end_ms = own_end_ms + ifnull(max(0, ?1 - suspended_since_ms), 0), suspended_since_ms = NULL
        WHERE id IN selected
        """)
    // Not of those that wait for a credential or for their earliest start.
    private static let endDelays = Query(
        "UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE id IN selected AND due_reason NOT IN (8, 18)")
    private static let setPriority = Query("UPDATE tasks SET priority = ? WHERE id IN selected")
    private static let cancel = Query(
        """
        UPDATE tasks SET state = 6, ended_ms = ?1, due_boot_ms = NULL, due_reason = 0, challenge_id = NULL, status = ?2,
            error_domain = 0, error_detail = 0, error_message = NULL
        WHERE id IN selected
        """)
    static let dropCheckpoints = Query("DELETE FROM checkpoints WHERE task_id IN selected")
    static let insertEvents = Query(
        """
        INSERT INTO events (session_id, task_id, kind, round, time_ms)
        SELECT session_id, tasks.id, 1, round, ? FROM selected CROSS JOIN tasks ON tasks.id = selected.id
        ORDER BY selected.id
        """)
    private static let invalidate = Query("UPDATE sessions SET invalidating = 1 WHERE id = ?")
    private static let removeActivities = Query("DELETE FROM activities WHERE session_id = ?")
    private static let selectIfOver = Query(
        "SELECT 1 FROM sessions WHERE id = ? AND invalidating = 1 AND live_tasks = 0 AND events_waiting = 0")
    private static let remove = Query("DELETE FROM sessions WHERE id = ?")
}
