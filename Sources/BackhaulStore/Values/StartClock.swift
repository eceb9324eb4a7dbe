/// One moment on three clocks, in milliseconds.
public struct StartClock: Equatable, Sendable {
    /// Unix time on the wall clock. The earliest start and the latest start of a task are times of this clock.
    public var wall: Int64
    public var boot: Int64
    /// Unix time on the age calendar, which measures the ages of tasks (`CalendarWatch`). The times in the rows of
    /// tasks are times of this clock. When the wall clock is set, this clock and the times in the rows move by the same
    /// step, so the step changes no task's age.
    public var calendar: Int64

    public init(wall: Int64, boot: Int64, calendar: Int64) {
        self.wall = wall
        self.boot = boot
        self.calendar = calendar
    }
}
