/// One condition with hysteresis. A worse reading takes effect at once. A better reading takes effect after it has
/// lasted for the time that `FlapDamping` computes. So the result is the worst reading during this time. Times are
/// milliseconds since boot.
struct Hysteresis<Value: Equatable & Sendable>: Sendable {
    private struct Former: Sendable {
        var reading: Reading<Value>
        var severity: Int
        var endedAt: Int64
    }

    private let rule: ConditionsFilter.Rule
    /// How bad a value is; 0 is the best. An unavailable reading counts as 0.
    private let severity: @Sendable (Value) -> Int
    private var raw: Reading<Value>?
    /// The last reading; nil if there is none, or if it was forgotten.
    var last: Reading<Value>? { raw }
    /// Readings that were worse than all later readings. The oldest reading, which is the worst, comes first.
    private var former: [Former] = []
    private var flapping: FlapDamping

    init(_ rule: ConditionsFilter.Rule, severity: @escaping @Sendable (Value) -> Int) {
        self.rule = rule
        self.severity = severity
        flapping = FlapDamping(rule)
    }

    /// Takes a reading, and returns the reading that takes effect. `nextCheck`: the time at which the result changes
    /// although there is no new reading; nil if it does not change.
    mutating func take(_ reading: Reading<Value>, now: Int64) -> (reading: Reading<Value>, nextCheck: Int64?) {
        let bad = severity(of: reading)
        if let raw {
            let formerBad = severity(of: raw)
            if bad < formerBad { former.append(Former(reading: raw, severity: formerBad, endedAt: now)) }
            former.removeAll { $0.severity <= bad }
        }
        raw = reading
        let duration = flapping.duration(now: now)
        if let settled = former.lastIndex(where: { now - $0.endedAt >= duration }) { former.removeFirst(settled + 1) }
        guard let worst = former.first else {
            flapping.note(bad, now: now)
            return (reading, nil)
        }
        flapping.note(worst.severity, now: now)
        var held = worst.reading
        let endsAt = worst.endedAt + duration
        held.settling = SettlingPeriod(durationMilliseconds: duration, endsAt: endsAt)
        return (held, endsAt)
    }

    /// Forgets the readings, because the condition is no longer read. The next reading takes effect at once. `flapping`
    /// still knows how often the condition changed its direction (from better to worse, or from worse to better).
    mutating func forget() { (raw, former) = (nil, []) }

    private func severity(of reading: Reading<Value>) -> Int { reading.value.map(severity) ?? 0 }
}

/// Computes how long a better value must last. The time depends on how often the value has reversed its direction.
struct FlapDamping: Sendable {
    private let rule: ConditionsFilter.Rule
    private var doublings: Int64 = 0
    /// The times at which the value reversed its direction, in ascending order.
    private var reversals: [Int64] = []
    private var farthest: Int?
    private var isRising = false

    init(_ rule: ConditionsFilter.Rule) { self.rule = rule }

    /// The time for which a better value must last now.
    mutating func duration(now: Int64) -> Int64 {
        let duration = min(rule.duration << doublings, ConditionsFilter.longest)
        // After `flapWindow` without a reversal, `rule.duration` applies again. But a better value counts as a reversal
        // only after it has lasted for `duration`. So `duration` is added to the window.
        if let last = reversals.last, now - last < ConditionsFilter.flapWindow + duration {
            return duration
        }
        (reversals, doublings) = ([], 0)
        return rule.duration
    }

    /// Notes the present value. Only reversals by `rule.step` or more count. With a step of 10, the values 40, 43, 41
    /// contain no reversal.
    mutating func note(_ outcome: Int, now: Int64) {
        guard let last = farthest else {
            farthest = outcome
            return
        }
        if isRising ? outcome >= last : outcome <= last {
            farthest = outcome
            return
        }
        guard abs(outcome - last) >= rule.step else { return }
        isRising.toggle()
        farthest = outcome
        reversals.append(now)
        let recent = reversals.filter { now - $0 < ConditionsFilter.flapWindow }
        reversals = recent.suffix(ConditionsFilter.flapLimit + 1)
        if recent.count > ConditionsFilter.flapLimit {
            // Five doublings already exceed `ConditionsFilter.longest`.
            doublings = min(doublings + 1, 5)
        }
    }
}
