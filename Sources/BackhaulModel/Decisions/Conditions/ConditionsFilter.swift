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
/// A reading that vanishes counts as better; what nobody reads any more is forgotten, but for how often it has turned.
/// After more than 3 turns in 5 minutes the time doubles with each further
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
    /// once. `now`: milliseconds since boot. `needs`: what is read at all. `pending`: what is not known for the moment,
    /// and so is as it was.
    public mutating func take(
        _ raw: Conditions, of needs: ConditionNeeds = .all, pending: ConditionNeeds = [], now: Int64
    ) -> (conditions: Conditions, nextLook: Int64?) {
        // Far from overflows, and never back.
        let now = max(last ?? .min, min(max(now, 0), 1 << 53))
        last = now
        forget(except: needs)
        var conditions = raw
        var looks: [Int64] = []
        func steady<Value>(
            _ need: ConditionNeeds, _ reading: inout Reading<Value>, _ filter: inout SteadyReading<Value>
        ) {
            guard needs.contains(need) else { return }
            guard let known = pending.contains(need) ? filter.last : reading else { return }
            let (steady, look) = filter.take(known, now: now)
            reading = steady
            if let look { looks.append(look) }
        }
        steady(.power, &conditions.externalPower, &externalPower)
        steady(.network, &conditions.isMetered, &isMetered)
        steady(.heat, &conditions.thermalState, &thermalState)
        steady(.cpuPressure, &conditions.cpuPressurePercent, &cpuPressure)
        steady(.ioPressure, &conditions.ioPressurePercent, &ioPressure)
        steady(.memoryPressure, &conditions.memoryPressurePercent, &memoryPressure)
        return (conditions, looks.min())
    }

    /// Nobody reads more than these now: what is read of the others later is a first reading.
    public mutating func forget(except needs: ConditionNeeds) {
        if !needs.contains(.power) { externalPower.forget() }
        if !needs.contains(.network) { isMetered.forget() }
        if !needs.contains(.heat) { thermalState.forget() }
        if !needs.contains(.cpuPressure) { cpuPressure.forget() }
        if !needs.contains(.ioPressure) { ioPressure.forget() }
        if !needs.contains(.memoryPressure) { memoryPressure.forget() }
    }
}
