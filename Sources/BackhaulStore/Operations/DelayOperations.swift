public import BackhaulModel

/// Single tasks that wait for a time, although others of their lane may run.
public struct DelayOperations {
    let tables: Tables

    /// Those of them that wait for their turn wait until then by the boot clock.
    public func begin(_ tasks: [TaskID], until due: Int64, for reason: WaitReason) throws(Failure) {
        for task in tasks { try tables.delays.delayReady(task, until: due, for: reason) }
    }

    /// All that wait for a time for this reason.
    public func tasks(for reason: WaitReason) throws(Failure) -> [DelayedTask] {
        try tables.delays.delayed(for: reason, after: nil, limit: .max)
    }

    /// Judges again those that wait for this reason, in the order of their times, some thousands `after` the last of
    /// the batch before. `due`: until when by the boot clock the task waits on; nil: it waits for its turn. `due` may
    /// be called twice for a task that waits for longer than before, and has to return the same.
    public func judge(
        for reason: WaitReason, after last: DelayedTask? = nil, due: (DelayedTask) -> Int64?
    ) throws(Failure) -> JudgedDelays {
        var judged = JudgedDelays()
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

    /// When the first of those that wait for this reason began to, in Unix milliseconds, of each session.
    public func began(for reason: WaitReason) throws(Failure) -> [SessionID: Int64] {
        try tables.waits.delaysBegan(for: reason)
    }

    /// Tasks whose time has come by the boot clock wait for their turn again. Returns their lanes.
    public func releaseDue(bootMilliseconds: Int64) throws(Failure) -> Set<LaneID> {
        try tables.delays.releaseDue(bootMilliseconds: bootMilliseconds)
    }

    /// Tasks that wait for a route to their origin wait for their turn. Returns their lanes.
    public func releaseUnconnected() throws(Failure) -> Set<LaneID> { try tables.delays.releaseUnconnected() }

    /// Those of these lanes of which a task waits for a route to its origin.
    public func unconnected(among lanes: Set<LaneID>) throws(Failure) -> Set<LaneID> {
        var found: Set<LaneID> = []
        for lane in lanes where try tables.delays.hasUnconnected(lane) { found.insert(lane) }
        return found
    }

    /// Tasks of the session that wait for their next try wait no longer than its configuration now says.
    public func rescheduleRetries(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try tables.delays.shortenRetries(of: session, DelayMoment(boot: bootMilliseconds, calendar: now))
    }

    /// When the next delayed task is due, in milliseconds of the boot clock.
    public func nextDue() throws(Failure) -> Int64? { try tables.delays.nextDue() }

    /// Looks whether the calendar has jumped since the last time, and moves the times of live tasks along, so that
    /// their ages stay. Returns the distance in milliseconds.
    @discardableResult
    public func adopt(_ now: ClockReading) throws(Failure) -> Int64 {
        let jump = try tables.meta.clock().map { CalendarJump.between($0, now) } ?? 0
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

    /// The calendar has jumped. What counts from when it was set goes along; what was set for a time on the wall stays
    /// there, but a window that was computed while the calendar showed too much opens after one interval.
    private func moveActivities(by jump: Int64, now: Int64) throws(Failure) {
        try tables.activities.moveWindows(by: jump)
        // A machine whose clock is not set yet will see those times again.
        guard jump < 0, now >= CalendarJump.neverSet else { return }
        try tables.activities.boundWindows(now: now)
    }

    /// A few tens of milliseconds.
    static let batch: Int64 = 4_096
}
