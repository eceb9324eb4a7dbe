public import BackhaulModel

/// Single tasks that wait for a time, although other tasks of their lane may run.
public struct DelayOperations {
    let tables: Tables

    /// Makes the ready ones of these tasks wait until `due`, by the boot clock.
    public func begin(_ tasks: [TaskID], until due: Int64, for reason: WaitReason) throws(Failure) {
        for task in tasks { try tables.delays.delayReady(task, until: due, for: reason) }
    }

    /// Returns all tasks that wait for a time for this reason.
    public func tasks(for reason: WaitReason) throws(Failure) -> [DelayedTask] {
        try tables.delays.delayed(for: reason, after: nil, limit: .max)
    }

    /// Judges again the tasks that wait for this reason, in the order of their due times. One call judges up to `batch`
    /// tasks `after` the last task of the previous call. `due` returns until when the task waits, by the boot clock, or
    /// nil if it is ready. It may be called twice for a task whose wait becomes longer, and must return the same value.
    public func evaluate(
        for reason: WaitReason, after last: DelayedTask? = nil, due: (DelayedTask) -> Int64?
    ) throws(Failure) -> EvaluatedDelays {
        var judged = EvaluatedDelays()
        let tasks = try tables.delays.delayed(for: reason, after: last, limit: Self.batch)
        if tasks.count == Int(Self.batch) { judged.last = tasks.last }
        for task in tasks {
            if let time = due(task) {
                judged.next = min(judged.next ?? .max, time)
                if time != task.due { try tables.delays.move(task.task, to: time) }
            } else {
                judged.lanes.insert(task.lane)
                try tables.delays.release(task.task)
            }
        }
        return judged
    }

    /// Returns for each session when the first task with this reason began to wait, in Unix milliseconds.
    public func began(for reason: WaitReason) throws(Failure) -> [SessionID: Int64] {
        try tables.waits.delaysBegan(for: reason)
    }

    /// Ends the delays that are over by the boot clock. Returns the lanes of the tasks.
    public func releaseDue(bootMilliseconds: Int64) throws(Failure) -> Set<LaneID> {
        try tables.delays.releaseDue(bootMilliseconds: bootMilliseconds)
    }

    /// Ends the delays of tasks that wait for a route to their origin. Returns their lanes.
    public func releaseUnreachable() throws(Failure) -> Set<LaneID> { try tables.delays.releaseUnreachable() }

    /// Returns those of the lanes in which a task waits for a route to its origin.
    public func unreachableLanes(among lanes: Set<LaneID>) throws(Failure) -> Set<LaneID> {
        var found: Set<LaneID> = []
        for lane in lanes where try tables.delays.hasUnreachable(lane) { found.insert(lane) }
        return found
    }

    /// Shortens the retry delays of the session's tasks to the maximum of its new configuration.
    public func rescheduleRetries(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try tables.delays.shortenRetries(of: session, DelayMoment(boot: bootMilliseconds, calendar: now))
    }

    /// When the next delayed task is due, in milliseconds of the boot clock.
    public func nextDue() throws(Failure) -> Int64? { try tables.delays.nextDue() }

    /// Detects whether the wall clock has jumped since the last call. Moves the times of live tasks by the jump, so
    /// that their ages do not change. Returns the jump in milliseconds.
    @discardableResult
    public func adopt(_ now: ClockReading) throws(Failure) -> Int64 {
        let jump = try tables.meta.clock().map { ClockStep.between($0, now) } ?? 0
        if jump != 0 {
            try tables.tasks.moveTimes(by: jump)
            try tables.options.moveDelays(by: jump)
            try tables.waits.moveTimes(by: jump)
            try moveActivities(by: jump, now: now.wall)
        }
        try tables.delays.rescheduleStarts(now, all: jump != 0)
        try tables.meta.setClock(now)
        return jump
    }

    /// Moves the windows of activities after a clock step. Windows that count from when the activity was set move by
    /// the jump. Windows that were set for a wall-clock time stay. But a window that was computed while the clock was
    /// ahead opens after one interval at the latest.
    private func moveActivities(by jump: Int64, now: Int64) throws(Failure) {
        try tables.activities.moveWindows(by: jump)
        // On a machine whose clock is not set yet, those times are still to come.
        guard jump < 0, now >= ClockStep.neverSet else { return }
        try tables.activities.boundWindows(now: now)
    }

    /// The number of tasks of one call. It takes a few tens of milliseconds.
    static let batch: Int64 = 4_096
}
