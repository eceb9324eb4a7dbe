/// Measures bytes per second over the last few seconds.
struct RateMeter {
    private(set) var bytesPerSecond: UInt64 = 0
    private var sinceTick: UInt64 = 0
    /// The bytes of the last interval between two ticks, which lasts one second.
    private(set) var lastSecond: UInt64 = 0

    mutating func add(_ count: Int) { sinceTick += UInt64(count) }

    /// Ends an interval of one second. It is called once a second. In the average, an interval has half the weight of
    /// the interval that follows it.
    mutating func tick() {
        bytesPerSecond = bytesPerSecond == 0 ? sinceTick : (bytesPerSecond + sinceTick) / 2
        lastSecond = sinceTick
        sinceTick = 0
    }
}
