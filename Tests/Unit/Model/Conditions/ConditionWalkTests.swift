import BackhaulModel
import Testing

@Suite("Pauses and probes in simulations of several hours")
struct ConditionWalkTests {
    /// Simulates a network link for some hours. `speed` returns the mean bytes per second of an hour.
    private func walk(
        _ seed: UInt64, hours: Int, _ speed: (Int) -> UInt64
    ) -> (moved: [UInt64], isOpen: Bool, probes: Int) {
        var random = Random(seed: seed)
        var watch = SlowLink.Watch()
        var probe: (bytes: UInt64, milliseconds: Int64)?
        var moved = [UInt64](repeating: 0, count: hours)
        var probes = 0
        for second in 0..<(hours * 3_600) {
            let now = Int64(second) * 1_000
            let bytes = speed(second / 3_600) * UInt64(random.number(5...15)) / 10
            switch watch.permission("lane", SlowLink.terms, now: now) {
            case .open:
                moved[second / 3_600] += bytes
                _ = watch.take([SlowLink.sample(bytes)], now: now)
            case .probe:
                #expect(watch.probe(among: [("lane", SlowLink.terms)], now: now) == "lane")
                probe = (0, 0)
                probes += 1
            case .held:
                guard var current = probe else { continue }
                current = (current.bytes + bytes, current.milliseconds + 1_000)
                moved[second / 3_600] += bytes
                let isDecided = watch.probed(
                    "lane", bytes: current.bytes, milliseconds: current.milliseconds, now: now)
                probe = isDecided ? nil : current
            }
        }
        return (moved, watch.permission("lane", SlowLink.terms, now: Int64(hours) * 3_600_000) == .open, probes)
    }

    @Test("tasks on a fast link are never held", arguments: 1...5 as ClosedRange<UInt64>)
    func fast(seed: UInt64) {
        let walk = walk(seed, hours: 3) { _ in 20_000 }
        #expect(walk.isOpen && walk.probes == 0)
    }

    @Test(
        "a link that is slow for hours is probed only a few times",
        arguments: 1...5 as ClosedRange<UInt64>)
    func slow(seed: UInt64) {
        let walk = walk(seed, hours: 6) { _ in 3_000 }
        // The pauses are 5, 10, 20, 40 and then 60 minutes.
        #expect(walk.probes == 8 || walk.probes == 9)
        #expect(walk.moved.reduce(0, +) < 3_000 * 200)
    }

    @Test("a link that has recovered is used again within the longest pause", arguments: 1...5 as ClosedRange<UInt64>)
    func recovers(seed: UInt64) {
        let walk = walk(seed, hours: 6) { $0 < 4 ? 3_000 : 200_000 }
        #expect(walk.isOpen)
        #expect(walk.moved[5] > 200_000 * 3_000)
    }

    @Test(
        "if an uplink works again for only one of three servers, probes find this server within 15 minutes",
        arguments: [0, 1, 2])
    func uplink(alive: Int) {
        let origins = ["a", "b", "c"].map { Origin(scheme: "https", server: "\($0).example", port: 443) }
        var watch = UplinkWatch()
        for origin in origins { _ = watch.take(origin, .unreachable, originsInUse: 3, now: 0) }
        var probes = 0
        var foundAt: Int64?
        for second in 1..<7_200 as Range<Int64> where foundAt == nil {
            guard let origin = watch.probe(among: origins, now: second * 1_000) else { continue }
            probes += 1
            let isBack = second >= 3_600 && origin == origins[alive]
            _ = watch.take(origin, isBack ? .responded : .unreachable, originsInUse: 3, now: second * 1_000)
            if !watch.isHeld { foundAt = second }
        }
        #expect((foundAt ?? .max) <= 3_600 + 3 * 300)
        #expect(probes < 25)
    }

    @Test(
        "an activity starts at most one time in each interval, even if the engine is often not running",
        arguments: 1...20 as ClosedRange<UInt64>)
    func activity(seed: UInt64) {
        var random = Random(seed: seed)
        let (interval, tolerance) = (UInt64(1_000), UInt64(random.number(1...999)))
        var window = ActivityWindow(begin: 1_000, toleranceMilliseconds: tolerance)
        var starts: [Int64] = []
        var now: Int64 = 0
        while now < 200_000 {
            let holds = random.once(in: 2) ? [Hold(.power, "")] : []
            window = window.current(
                intervalMilliseconds: interval, toleranceMilliseconds: tolerance, repeats: true, now: now)
            if window.shouldStart(now: now, holds: holds) {
                starts.append(now)
                guard
                    let next = window.next(
                        intervalMilliseconds: interval, toleranceMilliseconds: tolerance, repeats: true, now: now)
                else { return }
                #expect(next.begin > now && next.begin % 1_000 == 0)
                window = next
            }
            // Sometimes the engine does not run for a while. Otherwise, its next check is at `window.nextCheck`.
            let isAway = random.once(in: 10)
            now = isAway ? now + Int64(random.number(1...5_000)) : window.nextCheck(now: now) ?? now + 1
        }
        // No two starts are in the same interval.
        #expect(Set(starts.map { $0 / 1_000 }).count == starts.count)
        #expect(starts.count > 50)
    }
}
