/// Hysteresis between what is read and what decisions see, so that conditions that flap do not flap transfers: what
/// becomes worse takes effect at once, what becomes better must have lasted.
///
/// | condition | must have lasted | because |
/// | --- | --- | --- |
/// | external power | 10 s | a plug is wiggled, a dock is enumerated again |
/// | unmetered network | 10 s | networks come and go while a machine roams or wakes up |
/// | heat | 30 s | a processor cools down within seconds of a pause, and is as hot again right after it |
/// | pressure | 30 s | it is an average over ten seconds, and a pause lowers it by itself |
/// | connectivity, network, battery, sleep | – | told as a fact, not measured; the battery has a margin of its own |
///
/// A reading that vanishes counts as better. After more than 3 turns in 5 minutes the time doubles with each further
/// turn, up to 5 minutes, and is as before once it was calm for 5 minutes more than that time. Of pressure only turns
/// by 10 points count.
///
/// All times are those of the clock that starts with the boot, so that nothing depends on the calendar.
public struct ConditionsFilter: Sendable {
    struct Rule: Sendable {
        /// Milliseconds.
        var lasting: Int64
        /// What counts as a turn.
        var step: Int
    }

    static let power = Rule(lasting: 10_000, step: 1)
    static let metered = Rule(lasting: 10_000, step: 1)
    static let heat = Rule(lasting: 30_000, step: 1)
    static let pressure = Rule(lasting: 30_000, step: 10)
    static let flapWindow: Int64 = 300_000
    static let flapLimit = 3
    static let longest: Int64 = 300_000

    private var externalPower = SteadyReading<Bool>(power) { $0 ? 0 : 1 }
    private var isMetered = SteadyReading<Bool>(metered) { $0 ? 1 : 0 }
    private var thermalState = SteadyReading<ThermalState>(heat) { Int($0.rawValue - ThermalState.nominal.rawValue) }
    private var cpuPressure = SteadyReading<UInt8>(pressure) { Int($0) }
    private var ioPressure = SteadyReading<UInt8>(pressure) { Int($0) }
    private var memoryPressure = SteadyReading<UInt8>(pressure) { Int($0) }
    private var last: Int64?

    public init() {}

    /// What decisions see of what was read, and when that changes although nothing else is read, in milliseconds since
    /// boot: then it is to be called again with the same readings. Nil: not by itself. The first readings count at
    /// once. `now`: milliseconds since boot.
    public mutating func take(_ raw: Conditions, now: Int64) -> (conditions: Conditions, nextLook: Int64?) {
        // Far from overflows, and never back.
        let now = max(last ?? .min, min(max(now, 0), 1 << 53))
        last = now
        var conditions = raw
        var looks: [Int64] = []
        func steady<Value>(_ reading: inout Reading<Value>, _ filter: inout SteadyReading<Value>) {
            let (steady, look) = filter.take(reading, now: now)
            reading = steady
            if let look { looks.append(look) }
        }
        steady(&conditions.externalPower, &externalPower)
        steady(&conditions.isMetered, &isMetered)
        steady(&conditions.thermalState, &thermalState)
        steady(&conditions.cpuPressurePercent, &cpuPressure)
        steady(&conditions.ioPressurePercent, &ioPressure)
        steady(&conditions.memoryPressurePercent, &memoryPressure)
        return (conditions, looks.min())
    }
}
