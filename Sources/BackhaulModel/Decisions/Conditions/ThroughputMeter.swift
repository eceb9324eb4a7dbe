/// Measures the average rate over a recent window of time. Only time in which transfers were measured counts.
struct ThroughputMeter: Sendable {
    /// The number of steps in a window. The window moves by one step at a time.
    static let slots = 12

    private let window: Int64
    /// The bytes and the measured milliseconds of each step. The oldest step comes first.
    private var slots: [(bytes: UInt64, milliseconds: Int64)] = []
    private(set) var lastAt: Int64

    init(window: Int64, now: Int64) {
        self.window = max(1_000, window)
        lastAt = now
    }

    mutating func add(_ bytes: UInt64, milliseconds: Int64, now: Int64) {
        // After a break that is longer than the window, older measurements are dropped.
        if now - lastAt > window { slots = [] }
        lastAt = now
        if let last = slots.last, last.milliseconds < window / Int64(Self.slots) {
            slots[slots.count - 1] = (last.bytes.saturatingAdd(bytes), last.milliseconds + milliseconds)
        } else {
            slots.append((bytes, milliseconds))
        }
        while let first = slots.first, measured - first.milliseconds >= window { slots.removeFirst() }
    }

    var measured: Int64 { slots.reduce(0) { $0 + $1.milliseconds } }

    var bytesPerSecond: UInt64 {
        let bytes = slots.reduce(UInt64(0)) { $0.saturatingAdd($1.bytes) }
        return ThroughputMeter.rate(bytes, measured)
    }

    /// Whether the window is full and its average rate is below `minimum`.
    func isSlow(_ minimum: UInt64) -> Bool { measured >= window && bytesPerSecond < minimum }

    static func rate(_ bytes: UInt64, _ milliseconds: Int64) -> UInt64 {
        let (product, overflow) = bytes.multipliedReportingOverflow(by: 1_000)
        return (overflow ? .max : product) / UInt64(max(1, milliseconds))
    }
}
