internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The age calendar: the clock that measures the age of tasks. It stays correct when the machine's clock is set.
///
/// Each engine has one object of this type. The age calendar advances with the boot clock. When a user or the network
/// sets the machine's clock (a clock step), the age calendar and the times of all rows in the database move by the same
/// number of milliseconds. So the step does not change the age of a task.
final class CalendarWatch {
    /// The longest duration of a timer that waits for a calendar time, in milliseconds. When such a timer fires, the
    /// engine computes the remaining time again. So an error of the clock has an effect for one day at most.
    static let longestCheckInterval: Int64 = 86_400_000

    private let runtime: any Runtime
    /// Milliseconds by which the calendar is ahead of the boot clock.
    private var offset: Int64 = 0
    private var isApplyingStep = false

    init(_ runtime: any Runtime) { self.runtime = runtime }

    /// The present time of this calendar, for tasks in memory. A transaction that writes a time uses
    /// `Transaction.calendar`: a transaction that moves the stored times may be waiting before it.
    var milliseconds: Int64 { runtime.clocks.bootMilliseconds + offset }

    /// The milliseconds until the task's resource time-out is over. This time-out is the longest permitted time between
    /// the enqueue, which stores the task, and the end of the task. Times in which the task is suspended do not count.
    func remainingMilliseconds(of task: StoredTask, _ configuration: SessionConfiguration) -> Int64 {
        let limit = task.request.options.policy.resourceTimeoutMilliseconds ?? configuration.resourceTimeoutMilliseconds
        return Int64(clamping: limit) - (milliseconds - task.enqueuedMilliseconds - task.suspendedMilliseconds)
    }

    /// Sets the calendar when the engine starts. The engine then calls `DelayOperations.adopt`, which moves the stored
    /// times if the clock was set since the last reading.
    func begin(_ reading: ClockReading) { offset = reading.wall - reading.boot }

    /// Checks for a clock step (a change of the machine's clock), and moves the times of all rows by this step. No
    /// timer calls this function: the engine calls it before other work that depends on the calendar.
    func check() {
        let reading = runtime.clocks.reading
        guard !isApplyingStep, abs(reading.wall - reading.boot - offset) >= ClockStep.tolerance else { return }
        isApplyingStep = true
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.delays.adopt(reading)
            },
            then: { [unowned self] result in
                isApplyingStep = false
                guard case .success(let step) = result else { return [] }
                offset = reading.wall - reading.boot
                // The clock may have been set again during the commit.
                check()
                return [.calendarStepped(by: step)]
            })
    }
}

extension Transaction {
    /// The present time of the age calendar, by which the stored times count. `known`: the time by `CalendarWatch`.
    func calendar(_ known: Int64, _ clocks: any Clocks) throws(Failure) -> Int64 {
        try delays.calendar(bootMilliseconds: clocks.bootMilliseconds) ?? known
    }
}
