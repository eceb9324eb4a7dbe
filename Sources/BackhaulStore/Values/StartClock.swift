/// One moment on three clocks, in milliseconds.
public struct StartClock: Equatable, Sendable {
    /// Unix time, by which tasks start.
    public var wall: Int64
    public var boot: Int64
    /// Unix time by the calendar of the rows' ages.
    public var calendar: Int64

    public init(wall: Int64, boot: Int64, calendar: Int64) {
        self.wall = wall
        self.boot = boot
        self.calendar = calendar
    }
}
