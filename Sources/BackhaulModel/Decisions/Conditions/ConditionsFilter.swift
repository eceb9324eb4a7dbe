/// Applies hysteresis to the readings of conditions, such as power or network. So conditions that change often do not
/// stop and start transfers again and again. A worse condition takes effect at once. A better condition takes effect
/// after it has lasted for some time.
///
/// | condition | must last | because |
/// | --- | --- | --- |
/// | external power | 10 s | a loose plug, or a dock that is enumerated again, interrupts power for a moment |
/// | unmetered network | 10 s | networks come and go while a machine roams or wakes up |
/// | heat | 30 s | if transfers pause, a processor cools down in seconds; when they continue, it heats up soon |
/// | pressure | 30 s | pressure is an average over ten seconds, and a pause of the transfers lowers it |
/// | connectivity, network, battery, sleep | 0 s | reported facts; `DeferralDecision` adds a margin for the battery |
///
/// An unavailable reading counts as the best value of its condition. A condition reverses if it becomes worse after it
/// became better, or better after it became worse. While there are more than 3 reversals within 5 minutes, each
/// reversal doubles the time that a better condition must last. This time is 5 minutes at most. If there is no reversal
/// for 5 minutes plus this time, the time returns to its value in the table. For pressure, only reversals by 10 points
/// or more count. When a condition is no longer read, its readings are forgotten, but its reversals stay counted.
///
/// All times are milliseconds since boot, so that nothing depends on the calendar.
public struct ConditionsFilter: Sendable {
    struct Rule: Sendable {
        /// How long a better value must last, in milliseconds.
        var duration: Int64
        /// The smallest change in the other direction that counts as a reversal.
        var step: Int
    }

    static let power = Rule(duration: 10_000, step: 1)
    static let metered = Rule(duration: 10_000, step: 1)
    static let heat = Rule(duration: 30_000, step: 1)
    static let pressure = Rule(duration: 30_000, step: 10)
    static let flapWindow: Int64 = 300_000
    static let flapLimit = 3
    static let longest: Int64 = 300_000

    private var externalPower = Hysteresis<Bool>(power) { $0 ? 0 : 1 }
    private var isMetered = Hysteresis<Bool>(metered) { $0 ? 1 : 0 }
    private var thermalState = Hysteresis<ThermalState>(heat) { Int($0.rawValue - ThermalState.nominal.rawValue) }
    private var cpuPressure = Hysteresis<UInt8>(pressure) { Int($0) }
    private var ioPressure = Hysteresis<UInt8>(pressure) { Int($0) }
    private var memoryPressure = Hysteresis<UInt8>(pressure) { Int($0) }
    private var last: Int64?

    public init() {}

    /// Returns the conditions after hysteresis, and the time of the next check in milliseconds since boot. By then, a
    /// better condition has lasted long enough. So the caller calls this function again at this time, even if no
    /// reading has changed. The time is nil if only a new reading can change the conditions. First readings take effect
    /// at once. `now`: milliseconds since boot. `needs`: the conditions that are read. `pending`: conditions that
    /// cannot be read at the moment; their last readings count.
    public mutating func take(
        _ raw: Conditions, of needs: ConditionSet = .all, pending: ConditionSet = [], now: Int64
    ) -> (conditions: Conditions, nextCheck: Int64?) {
        // The bounds prevent overflows. The time used here never decreases.
        let now = max(last ?? .min, min(max(now, 0), 1 << 53))
        last = now
        forget(except: needs)
        var conditions = raw
        var checks: [Int64] = []
        func steady<Value>(
            _ need: ConditionSet, _ reading: inout Reading<Value>, _ filter: inout Hysteresis<Value>
        ) {
            guard needs.contains(need) else { return }
            guard let known = pending.contains(need) ? filter.last : reading else { return }
            let (steady, check) = filter.take(known, now: now)
            reading = steady
            if let check { checks.append(check) }
        }
        steady(.power, &conditions.externalPower, &externalPower)
        steady(.network, &conditions.isMetered, &isMetered)
        steady(.heat, &conditions.thermalState, &thermalState)
        steady(.cpuPressure, &conditions.cpuPressurePercent, &cpuPressure)
        steady(.ioPressure, &conditions.ioPressurePercent, &ioPressure)
        steady(.memoryPressure, &conditions.memoryPressurePercent, &memoryPressure)
        return (conditions, checks.min())
    }

    /// Forgets the conditions that are not read any more. A later reading of such a condition counts as a first
    /// reading.
    public mutating func forget(except needs: ConditionSet) {
        if !needs.contains(.power) { externalPower.forget() }
        if !needs.contains(.network) { isMetered.forget() }
        if !needs.contains(.heat) { thermalState.forget() }
        if !needs.contains(.cpuPressure) { cpuPressure.forget() }
        if !needs.contains(.ioPressure) { ioPressure.forget() }
        if !needs.contains(.memoryPressure) { memoryPressure.forget() }
    }
}
