public import BackhaulModel

/// Operations on delayed tasks: single tasks that wait for a time while other tasks of their lane may run.
public struct DelayOperations {
    let tables: Tables
    private var options: OptionOperations { OptionOperations(tables: tables) }

    /// Delays tasks until `due`, in milliseconds of the boot clock. Skips tasks that are not ready.
    public func begin(_ tasks: [TaskID], until due: Int64, for reason: WaitReason) throws(Failure) {
        for task in tasks { try tables.delays.delayReady(task, until: due, for: reason) }
    }

    /// Returns all tasks that are delayed for this reason.
    public func tasks(for reason: WaitReason) throws(Failure) -> [DelayedTask] {
        try tables.delays.delayed(for: reason, after: nil, limit: .max)
    }

    /// Evaluates the tasks that are delayed for this reason, in the order of their due times. One call evaluates up to
    /// `batch` tasks that follow `last`, the last task of the previous call. The closure `due` returns the task's due
    /// time on the boot clock, or nil if the delay ends now. If a task's delay becomes longer, the task comes later in
    /// this order, so `due` may be called for this task a second time. Then `due` must return the same value as the
    /// first time.
    public func evaluate(
        for reason: WaitReason, after last: DelayedTask? = nil, due: (DelayedTask) -> Int64?
    ) throws(Failure) -> EvaluatedDelays {
        var evaluated = EvaluatedDelays()
        let tasks = try tables.delays.delayed(for: reason, after: last, limit: Self.batch)
        if tasks.count == Int(Self.batch) { evaluated.last = tasks.last }
        for task in tasks {
            if let time = due(task) {
                evaluated.next = min(evaluated.next ?? .max, time)
                if time != task.due { try tables.delays.move(task.task, to: time) }
            } else {
                evaluated.lanes.insert(task.lane)
                try tables.delays.release(task.task)
            }
        }
        return evaluated
    }

    /// Returns the sessions that have tasks delayed for this reason. The value for a session is the time at which the
    /// first of these tasks began to wait, in Unix milliseconds.
    public func began(for reason: WaitReason) throws(Failure) -> [SessionID: Int64] {
        try tables.waits.delaysBegan(for: reason)
    }

    /// Ends the delays whose due time on the boot clock has come.
    public func releaseDue(bootMilliseconds: Int64) throws(Failure) -> ReleasedTasks {
        try released(tables.delays.releaseDue(bootMilliseconds: bootMilliseconds))
    }

    private func released(_ rows: [ReleasedRow]) throws(Failure) -> ReleasedTasks {
        ReleasedTasks(
            lanes: Set(rows.lazy.filter { !$0.hasIntent }.map(\.lane)),
            priority: rows.lazy.map(\.priority).max() ?? .min,
            complete: try options.tasks(rows.filter(\.hasIntent).map(\.id)))
    }

    /// Returns the tasks that were set aside and whose resource time-out, the longest permitted time from the enqueue
    /// to the end, is over. The caller must end these tasks.
    public func overdueAside(bootMilliseconds: Int64) throws(Failure) -> [StoredTask] {
        try options.tasks(try tables.delays.dueAside(bootMilliseconds: bootMilliseconds))
    }

    /// Ends the delays of tasks that wait for a route to their origin. Returns the lanes of these tasks.
    public func releaseUnreachable() throws(Failure) -> Set<LaneID> { try tables.delays.releaseUnreachable() }

    /// Ends the delays of the tasks that `TaskOperations.withIntent` returns: the engine runs them now, so a cancel
    /// must not find them delayed.
    public func releaseSealed() throws(Failure) { try tables.delays.releaseSealed() }

    /// Ends the delays of tasks whose storage is away.
    public func releaseStorage() throws(Failure) -> ReleasedTasks { try released(tables.delays.releaseStorage()) }

    /// Returns the lanes among `lanes` in which a task waits for a route to its origin.
    public func unreachableLanes(among lanes: Set<LaneID>) throws(Failure) -> Set<LaneID> {
        var found: Set<LaneID> = []
        for lane in lanes where try tables.delays.hasUnreachable(lane) { found.insert(lane) }
        return found
    }

    /// Shortens the retry delays of the session's tasks to the longest permitted delay. This is the value of the task's
    /// request or, if the request has none, the value of the session's new configuration.
    public func rescheduleRetries(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try tables.delays.shortenRetries(of: session, DelayMoment(boot: bootMilliseconds, calendar: now))
    }

    /// Returns when the next delayed task is due, in milliseconds of the boot clock.
    public func nextDue() throws(Failure) -> Int64? { try tables.delays.nextDue() }

    /// Detects whether the wall clock was set since the last call. The change of the clock is the *step*. If the clock
    /// was set, adds the step to the times of all tasks that have not ended. So the ages of these tasks do not change.
    /// Returns the step in milliseconds, or 0.
    @discardableResult
    public func adopt(_ now: ClockReading) throws(Failure) -> Int64 {
        let step = try tables.meta.clock().map { ClockStep.between($0, now) } ?? 0
        if step != 0 {
            try tables.tasks.moveTimes(by: step)
            try tables.options.moveDelays(by: step)
            try tables.waits.moveTimes(by: step)
            try moveActivities(by: step, now: now.wall)
        }
        try tables.delays.rescheduleStarts(now, all: step != 0)
        try tables.meta.setClock(now)
        return step
    }

    /// The present time of the age calendar, which the last call of `adopt` has set; nil if there was no call. A
    /// transaction that writes a time for the age of a task reads the time here: if the clock was set, an earlier
    /// transaction may have moved the stored times after the caller has read the calendar.
    public func calendar(bootMilliseconds: Int64) throws(Failure) -> Int64? {
        try tables.meta.clock().map { $0.wall &- $0.boot &+ bootMilliseconds }
    }

    /// The wall time of the reading, without a step of the clock for which `adopt` was not called yet. That call will
    /// move the stored times by the step.
    public func wallBeforeStep(_ reading: ClockReading) throws(Failure) -> Int64 {
        try tables.meta.clock().map { reading.wall &- ClockStep.between($0, reading) } ?? reading.wall
    }

    /// Moves the windows of activities after a clock step. A window moves by the step if it counts from the time at
    /// which the activity was stored. A window with a fixed wall-clock time stays. But if the clock is set back, such a
    /// window may be far in the future. An activity that has already started in an earlier window then starts again at
    /// most one interval after the present time.
    private func moveActivities(by step: Int64, now: Int64) throws(Failure) {
        try tables.activities.moveWindows(by: step)
        // A clock that has never been set shows a time long ago. Compared with this time, the correct times of all
        // windows are in the future. So the windows stay.
        guard step < 0, now >= ClockStep.neverSet else { return }
        try tables.activities.boundWindows(now: now)
    }

    /// The largest number of tasks that one call changes. A call takes a few tens of milliseconds.
    static let batch: Int64 = 4_096
}
