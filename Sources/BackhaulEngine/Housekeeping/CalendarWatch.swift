internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The calendar for the ages of tasks, on a machine whose clock may be set.
///
/// Each store has one. The calendar advances with the boot clock. After a clock step, it moves together with the times
/// of all rows. So the step does not change the age of a task.
final class CalendarWatch {
    /// The longest time of a timer for a calendar time, in milliseconds. A wrong time is noticed within it.
    static let longestLook: Int64 = 86_400_000

    private let runtime: any Runtime
    /// Milliseconds by which the calendar is ahead of the boot clock.
    private var offset: Int64 = 0
    private var isMoving = false

    init(_ runtime: any Runtime) { self.runtime = runtime }

    /// The present time of this calendar.
    var milliseconds: Int64 { Clock.bootMilliseconds + offset }

    /// The time until the task's resource time-out, in milliseconds. Times in which the task is suspended do not count.
    func remainingMilliseconds(of task: StoredTask, _ configuration: SessionConfiguration) -> Int64 {
        let limit = task.request.options.policy.resourceTimeoutMilliseconds ?? configuration.resourceTimeoutMilliseconds
        return Int64(clamping: limit) - (milliseconds - task.enqueuedMilliseconds - task.suspendedMilliseconds)
    }

    static func readClock() -> ClockReading {
        ClockReading(
            wall: Clock.wallMilliseconds, boot: Clock.bootMilliseconds, bootID: ProcessIdentity.currentBootID)
    }

    /// Sets the calendar when the engine starts. All rows that are read later have times of this calendar.
    func begin(_ reading: ClockReading) { offset = reading.wall - reading.boot }

    /// Checks for a clock step, and moves the times of all rows by it. Called while other work is done anyway.
    func look(_ reading: ClockReading = CalendarWatch.readClock()) {
        guard !isMoving, abs(reading.wall - reading.boot - offset) >= CalendarJump.tolerance else { return }
        isMoving = true
        runtime.store({ (transaction) throws(Failure) in
            try transaction.delays.adopt(reading)
        }, then: { [unowned self] result in
            isMoving = false
            guard case .success(let step) = result else { return [] }
            offset = reading.wall - reading.boot
            return [.calendarStepped(by: step)]
        })
    }
}
