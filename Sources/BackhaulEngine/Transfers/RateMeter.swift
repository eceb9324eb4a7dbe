/// Bytes per second over the last few seconds.
struct RateMeter {
    private(set) var bytesPerSecond: UInt64 = 0
    private var sinceTick: UInt64 = 0
    /// Bytes of the second before the last tick.
    private(set) var lastSecond: UInt64 = 0

    mutating func add(_ count: Int) { sinceTick += UInt64(count) }

    /// Once a second. Each second weighs half of the one after it.
    mutating func tick() {
        bytesPerSecond = bytesPerSecond == 0 ? sinceTick : (bytesPerSecond + sinceTick) / 2
        lastSecond = sinceTick
        sinceTick = 0
    }
}
