internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The calendar by which the ages of tasks are counted, on a machine whose clock may be set.
///
/// Each store has one. The calendar goes with the boot clock; after a clock step it is set together with the times of
/// all rows, so that no task ages by the step.
final class CalendarWatch {
    /// The longest that a timer runs towards a time of the calendar. A wrong time is noticed within it.
    static let longestLook: Int64 = 86_400_000

    private let runtime: any Runtime
    /// Milliseconds by which the calendar is ahead of the boot clock.
    private var offset: Int64 = 0
    private var isMoving = false

    init(_ runtime: any Runtime) { self.runtime = runtime }

    /// The present time of this calendar.
    var milliseconds: Int64 { Clock.bootMilliseconds + offset }

    /// Until the task's resource time-out, which stands still while the task is suspended.
    func remainingMilliseconds(of task: StoredTask, _ configuration: SessionConfiguration) -> Int64 {
        let limit = task.request.options.policy.resourceTimeoutMilliseconds ?? configuration.resourceTimeoutMilliseconds
        return Int64(clamping: limit) - (milliseconds - task.enqueuedMilliseconds - task.suspendedMilliseconds)
    }

    static func readClock() -> ClockReading {
        ClockReading(
            wall: Clock.wallMilliseconds, boot: Clock.bootMilliseconds, bootID: ProcessIdentity.currentBootID)
    }

    /// Once when the engine begins: all rows that are read from then on have times of this calendar.
    func begin(_ reading: ClockReading) { offset = reading.wall - reading.boot }

    /// Notices a clock step. Called now and then, while something is done anyway.
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
