/// A reading that takes effect at once when it is worse, and when it is better only after that has lasted: the worst
/// that was seen in the last so many milliseconds. Times are those of the clock that starts with the boot.
struct SteadyReading<Value: Equatable & Sendable>: Sendable {
    private struct Former: Sendable {
        var reading: Reading<Value>
        var badness: Int
        var leftAt: Int64
    }

    private let rule: ConditionsFilter.Rule
    /// 0 is the best; what cannot be read is as good as that.
    private let badness: @Sendable (Value) -> Int
    private var raw: Reading<Value>?
    /// That was taken; nil: none, or it is forgotten.
    var last: Reading<Value>? { raw }
    /// Readings that were worse than all after them, oldest and worst first.
    private var former: [Former] = []
    private var flapping: FlapCount

    init(_ rule: ConditionsFilter.Rule, badness: @escaping @Sendable (Value) -> Int) {
        self.rule = rule
        self.badness = badness
        flapping = FlapCount(rule)
    }

    /// `nextLook`: when it changes by itself.
    mutating func take(_ reading: Reading<Value>, now: Int64) -> (reading: Reading<Value>, nextLook: Int64?) {
        let bad = badness(of: reading)
        if let raw {
            let formerBad = badness(of: raw)
            if bad < formerBad { former.append(Former(reading: raw, badness: formerBad, leftAt: now)) }
            former.removeAll { $0.badness <= bad }
        }
        raw = reading
        let duration = flapping.duration(now: now)
        if let settled = former.lastIndex(where: { now - $0.leftAt >= duration }) { former.removeFirst(settled + 1) }
        guard let worst = former.first else {
            flapping.note(bad, now: now)
            return (reading, nil)
        }
        flapping.note(worst.badness, now: now)
        var held = worst.reading
        let endsAt = worst.leftAt + duration
        held.settling = Settling(durationMilliseconds: duration, endsAt: endsAt)
        return (held, endsAt)
    }

    /// It is not read any more: the next reading is a first one. What has flapped until now still has.
    mutating func forget() { (raw, former) = (nil, []) }

    private func badness(of reading: Reading<Value>) -> Int { reading.value.map(badness) ?? 0 }
}

/// How long something better must last, by how often it has changed.
struct FlapCount: Sendable {
    private let rule: ConditionsFilter.Rule
    private var doublings: Int64 = 0
    /// When the outcome turned round, the newest last.
    private var turns: [Int64] = []
    private var farthest: Int?
    private var isRising = false

    init(_ rule: ConditionsFilter.Rule) { self.rule = rule }

    /// The time that holds now.
    mutating func duration(now: Int64) -> Int64 {
        let duration = min(rule.lasting << doublings, ConditionsFilter.longest)
        // What lasts as long as it must is no calm yet.
        if let last = turns.last, now - last < ConditionsFilter.flapWindow + duration {
            return duration
        }
        (turns, doublings) = ([], 0)
        return rule.lasting
    }

    /// The outcome, of which only turns by `rule.step` or more count: 40, 43, 41 is no flapping.
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
        turns.append(now)
        let recent = turns.filter { now - $0 < ConditionsFilter.flapWindow }
        turns = recent.suffix(ConditionsFilter.flapLimit + 1)
        if recent.count > ConditionsFilter.flapLimit {
            // 2^5 times ten seconds is more than the longest.
            doublings = min(doublings + 1, 5)
        }
    }
}
