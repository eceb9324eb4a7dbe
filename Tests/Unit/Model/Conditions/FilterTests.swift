@testable import BackhaulModel
import Testing

@Suite("The filter of conditions")
struct ConditionsFilterTests {
    private var onPower: Conditions { power(true) }
    private var onBattery: Conditions { power(false) }

    private func power(_ value: Bool?) -> Conditions {
        var conditions = Conditions()
        conditions.externalPower = Reading(value, source: "AC")
        return conditions
    }

    private func heat(_ value: ThermalState) -> Conditions {
        var conditions = Conditions()
        conditions.thermalState = Reading(value)
        return conditions
    }

    @Test("the filter uses the first reading of a condition at once", arguments: [true, false, nil])
    func first(value: Bool?) {
        var filter = ConditionsFilter()
        let seen = filter.take(power(value), now: 5)
        #expect(seen.conditions == power(value))
        #expect(seen.nextCheck == nil)
    }

    @Test("the filter uses a worse reading of power at once, and a better reading after ten seconds")
    func power() {
        var filter = ConditionsFilter()
        _ = filter.take(onPower, now: 0)
        #expect(filter.take(onBattery, now: 1).conditions == onBattery)
        let settling = filter.take(onPower, now: 1_000)
        #expect(settling.nextCheck == 11_000)
        #expect(settling.conditions.externalPower.value == false)
        #expect(
            settling.conditions.externalPower.settling == SettlingPeriod(durationMilliseconds: 10_000, endsAt: 11_000))
        #expect(filter.take(onPower, now: 10_999).conditions.externalPower.value == false)
        let settled = filter.take(onPower, now: 11_000)
        #expect(settled.conditions == onPower)
        #expect(settled.nextCheck == nil)
    }

    @Test("if an improvement is interrupted, its settling period starts again")
    func interrupted() {
        var filter = ConditionsFilter()
        _ = filter.take(onBattery, now: 0)
        _ = filter.take(onPower, now: 1_000)
        _ = filter.take(onBattery, now: 9_000)
        #expect(filter.take(onPower, now: 9_500).nextCheck == 19_500)
    }

    @Test("a condition that becomes unknown counts as better")
    func vanishes() {
        var filter = ConditionsFilter()
        _ = filter.take(onBattery, now: 0)
        #expect(filter.take(power(nil), now: 1_000).conditions.externalPower.value == false)
        #expect(filter.take(power(nil), now: 11_000).conditions == power(nil))
    }

    @Test("each step to a lower level of heat has its own settling period of thirty seconds")
    func levels() {
        var filter = ConditionsFilter()
        _ = filter.take(heat(.critical), now: 0)
        #expect(filter.take(heat(.serious), now: 1_000).conditions.thermalState.value == .critical)
        #expect(filter.take(heat(.fair), now: 11_000).nextCheck == 31_000)
        let serious = filter.take(heat(.fair), now: 31_000)
        #expect(serious.conditions.thermalState.value == .serious)
        #expect(serious.nextCheck == 41_000)
        #expect(filter.take(heat(.fair), now: 41_000).conditions == heat(.fair))
        #expect(filter.take(heat(.critical), now: 41_001).conditions == heat(.critical))
    }

    @Test("readings of connectivity, network, battery and sleep are used at once")
    func filtered() {
        var filter = ConditionsFilter()
        var conditions = Conditions.onTheRoad
        conditions.isMetered = Reading()
        conditions.connectivity = Reading(.portal)
        conditions.isPreparingForSleep = Reading(true)
        _ = filter.take(conditions, now: 0)
        conditions.connectivity = Reading(.full)
        conditions.isPreparingForSleep = Reading(false)
        conditions.batteryPercent = Reading(99)
        conditions.network = Reading(Network(name: "Home", kind: .ethernet))
        #expect(filter.take(conditions, now: 1).conditions == conditions)
    }

    @Test("if a bad condition is read only from time to time, it does not count as flapping")
    func notRead() {
        var filter = ConditionsFilter()
        for round in 0..<20 as Range<Int64> {
            #expect(filter.take(onBattery, now: round * 10_000).conditions == onBattery)
            let unread = filter.take(Conditions(), of: [], now: round * 10_000 + 5_000)
            #expect(unread.conditions == Conditions())
            #expect(unread.nextCheck == nil)
        }
        _ = filter.take(onBattery, now: 200_000)
        #expect(
            filter.take(onPower, now: 200_001).conditions.externalPower.settling?.durationMilliseconds == 10_000)
    }

    @Test("when a condition is read again after a time without readings, its old reading has no effect")
    func forgotten() {
        var filter = ConditionsFilter()
        _ = filter.take(onBattery, now: 0)
        _ = filter.take(Conditions(), of: [], now: 1_000)
        #expect(filter.take(onPower, now: 3_600_000).conditions == onPower)
    }

    @Test("while a reading has not arrived, the filter keeps the old value, and a settling period continues")
    func pending() {
        var filter = ConditionsFilter()
        #expect(filter.take(power(nil), pending: .power, now: 0).conditions == power(nil))
        _ = filter.take(onBattery, now: 1)
        #expect(filter.take(power(nil), pending: .power, now: 20_000).conditions == onBattery)
        _ = filter.take(onPower, now: 21_000)
        #expect(filter.take(power(nil), pending: .power, now: 22_000).nextCheck == 31_000)
        #expect(filter.take(power(nil), pending: .power, now: 31_000).conditions == onPower)
    }

    /// Simulates an hour in which power is present for `good` milliseconds, then absent for `bad` milliseconds, and so
    /// on. Returns the largest number of changes of the filtered reading within five minutes.
    private func changes(inFor good: Int64, outFor bad: Int64) -> Int {
        var filter = ConditionsFilter()
        var times: [Int64] = []
        var (now, next, isGood) = (Int64(0), Int64(0), false)
        var check: Int64?
        var last: Bool?
        while now < 3_600_000 {
            if now >= next {
                isGood.toggle()
                next = now + (isGood ? good : bad)
            }
            let seen = filter.take(isGood ? onPower : onBattery, now: now)
            check = seen.nextCheck
            if let last, seen.conditions.externalPower.value != last { times.append(now) }
            last = seen.conditions.externalPower.value
            now = min(next, check ?? next)
        }
        return times.map { begin in times.count { $0 >= begin && $0 < begin + 300_000 } }.max() ?? 0
    }

    @Test("power that changes every second counts as absent")
    func flapsEverySecond() { #expect(changes(inFor: 1_000, outFor: 1_000) <= 1) }

    @Test("flapping power changes the filtered reading at most ten times in five minutes")
    func anyFlapping() {
        for good in stride(from: Int64(1_000), through: 320_000, by: 3_000) {
            for bad in [1, 1_000, 7_000, 60_000] as [Int64] {
                let changes = changes(inFor: good, outFor: bad)
                #expect(changes <= 10, "\(good) ms in, \(bad) ms out")
            }
        }
    }

    @Test("after three changes, the settling period grows to at most five minutes; a time without changes resets it")
    func doubles() {
        var filter = ConditionsFilter()
        var now: Int64 = 0
        var durations: [Int64] = []
        for _ in 0..<9 {
            _ = filter.take(onBattery, now: now)
            let seen = filter.take(onPower, now: now + 1)
            durations.append(seen.conditions.externalPower.settling?.durationMilliseconds ?? 0)
            now = seen.nextCheck ?? now
            _ = filter.take(onPower, now: now)
            now += 1
        }
        #expect(durations == [10_000, 10_000, 10_000, 40_000, 160_000, 300_000, 300_000, 300_000, 300_000])
        now += 600_000
        _ = filter.take(onBattery, now: now)
        #expect(
            filter.take(onPower, now: now + 1).conditions.externalPower.settling?.durationMilliseconds == 10_000)
    }

    @Test("small changes of pressure do not count as flapping")
    func trembles() {
        var filter = ConditionsFilter()
        var conditions = Conditions()
        var last: Int64?
        for round in 0..<100 as Range<Int64> {
            conditions.ioPressurePercent = Reading(round % 2 == 0 ? 45 : 38)
            let seen = filter.take(conditions, now: round * 31_000)
            last = seen.conditions.ioPressurePercent.settling?.durationMilliseconds
        }
        #expect(last == 30_000)
    }

    @Test("the filter of conditions does not crash on extreme clock values", arguments: [.min, -1, .max] as [Int64])
    func nonsense(now: Int64) {
        var filter = ConditionsFilter()
        _ = filter.take(onBattery, now: 100_000)
        _ = filter.take(onPower, now: now)
        _ = filter.take(onBattery, now: 0)
        #expect(filter.take(onPower, now: .max).nextCheck != nil)
    }
}
