/// One moment on three clocks, in milliseconds.
public struct StartClock: Equatable, Sendable {
    /// Unix time on the wall clock. Earliest and latest starts are times of this clock.
    public var wall: Int64
    public var boot: Int64
    /// Unix time on the age calendar (`CalendarWatch`), which the times in rows use. It does not jump when the wall
    /// clock is set: a clock step moves it together with the rows, so no task ages by the step.
    public var calendar: Int64

    public init(wall: Int64, boot: Int64, calendar: Int64) {
        self.wall = wall
        self.boot = boot
        self.calendar = calendar
    }
}
