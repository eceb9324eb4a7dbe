import BackhaulModel
import Testing

/// A simulated link with a watch of *throughput*, which is the bytes per second that the network delivers. A test
/// reports to the watch how many bytes each lane transfers in each second.
struct SlowLink {
    typealias Watch = ThroughputWatch<String>
    static let terms = Watch.Terms(
        minimumBytesPerSecond: 10_000, slowAfterMilliseconds: 60_000, slowPauseMilliseconds: 300_000)
    static let mirror = Origin(scheme: "https", server: "mirror.example", port: 443)
    static let other = Origin(scheme: "https", server: "other.example", port: 443)

    var watch = Watch()
    var now: Int64 = 1_000_000
    /// The times at which `take` has reported that lanes must wait or may run again.
    var changes: [Int64] = []

    init() {}

    static func sample(_ bytes: UInt64, _ lane: String = "lane", _ origin: Origin = mirror, hasTerms: Bool = true)
        -> Watch.Sample
    { Watch.Sample(lane, origin, terms: hasTerms ? terms : nil, bytes: bytes) }

    mutating func pass(_ seconds: Int, _ samples: Watch.Sample...) {
        for _ in 0..<seconds {
            now += 1_000
            if watch.take(samples, now: now) { changes.append(now) }
        }
    }

    func permission(_ lane: String = "lane") -> Watch.Permission { watch.permission(lane, Self.terms, now: now) }

    /// Moves the time to the end of the lane's pause. Then simulates a *slow probe*, one task that tests the rate, with
    /// `bytes` per second for at most a minute. Returns whether the probe has ended, with a fast or a slow result.
    mutating func probe(_ bytes: UInt64) -> Bool {
        if case .held(let until?) = permission() { now = until }
        guard permission() == .probe else { return false }
        guard watch.probe(among: [("lane", Self.terms)], now: now) == "lane" else { return false }
        for second in 1...60 as ClosedRange<Int64> {
            now += 1_000
            let moved = bytes * UInt64(second)
            if watch.probed("lane", bytes: moved, milliseconds: second * 1_000, now: now) { return true }
        }
        return false
    }
}

/// The *sentence* of a hold explains why the tasks wait.
@Suite("Throughput that is too low")
struct ThroughputTests {
    @Test("a lane pauses after a minute below its minimum rate, and its sentence has the measured rate")
    func pauses() {
        var link = SlowLink()
        link.pass(59, SlowLink.sample(3_100))
        #expect(link.permission() == .open)
        link.pass(1, SlowLink.sample(3_100))
        #expect(link.changes == [link.now])
        #expect(link.permission() == .held(until: link.now + 300_000))
        let hold = link.watch.hold("lane", SlowLink.terms, now: link.now, unix: 5_000)
        #expect(
            hold
                == Hold(
                    .throughput,
                    "only 3.1 kB/s came from this server, less than the required 10.0 kB/s, and one task tests the "
                        + "rate again after a pause of 5 min", nextCheckMilliseconds: 305_000))
    }

    @Test("a lane never pauses if it reaches its minimum rate, or has no minimum rate")
    func fastEnough() {
        var link = SlowLink()
        link.pass(600, SlowLink.sample(10_000), SlowLink.sample(1, "free", SlowLink.other, hasTerms: false))
        #expect(link.changes.isEmpty)
        #expect(link.watch.permission("free", nil, now: link.now) == .open)
        #expect(link.watch.hold("free", nil, now: link.now, unix: 0) == nil)
    }

    @Test("if a lane transfers in bursts, its mean rate decides whether the lane is slow")
    func bursts() {
        var link = SlowLink()
        for _ in 0..<20 {
            link.pass(9, SlowLink.sample(0))
            link.pass(1, SlowLink.sample(110_000))
        }
        #expect(link.changes.isEmpty)
    }

    @Test("the total rate of an origin's lanes decides whether these lanes are slow")
    func shared() {
        var link = SlowLink()
        link.pass(600, SlowLink.sample(500), SlowLink.sample(9_500, "other", SlowLink.mirror))
        #expect(link.changes.isEmpty)
    }

    @Test("seconds without transfers do not count as slow, and a long break resets the measurement")
    func breaks() {
        var link = SlowLink()
        for _ in 0..<3 {
            link.pass(50, SlowLink.sample(0))
            link.pass(120)
        }
        #expect(link.changes.isEmpty)
        for _ in 0..<3 {
            link.pass(20, SlowLink.sample(0))
            link.pass(5)
        }
        #expect(link.changes.count == 1)
    }

    @Test("after the pause of a slow lane, one task may start as a slow probe")
    func oneProbe() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.now += 299_999
        #expect(link.permission() != .probe)
        #expect(link.watch.nextProbe(now: link.now) == link.now + 1)
        link.now += 1
        #expect(link.permission() == .probe)
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        #expect(link.permission() == .held(until: nil))
    }

    @Test("if a slow probe measures a sufficient rate, it releases its lane after 256 KiB")
    func fastProbe() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        let began = link.now + 300_000
        #expect(link.probe(100_000) == true)
        #expect(link.now == began + 3_000)
        #expect(link.permission() == .open)
    }

    @Test("each slow result of a probe doubles the pause; the longest pause is twelve times the first pause")
    func slowProbes() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        var pauses: [Int64] = []
        for _ in 0..<6 {
            if case .held(let until?) = link.permission() { pauses.append((until - link.now) / 1_000) }
            #expect(link.probe(3_000) == true)
        }
        #expect(pauses == [300, 600, 1_200, 2_400, 3_600, 3_600])
    }

    @Test("if a lane is slow again soon after a probe, its pause grows; if it stays fast for long, its pause is reset")
    func relapse() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        #expect(link.probe(100_000) == true)
        link.pass(60, SlowLink.sample(0))
        #expect(link.permission() == .held(until: link.now + 600_000))
        #expect(link.probe(100_000) == true)
        link.pass(700, SlowLink.sample(50_000))
        link.pass(120, SlowLink.sample(0))
        guard case .held(let until?) = link.permission() else {
            Issue.record("\(link.permission())")
            return
        }
        #expect(until - (link.changes.last ?? 0) == 300_000)
    }

    @Test("a slow probe that ends with a response releases its lane, and a failed probe is repeated after a pause")
    func endedProbe() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.now += 300_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        #expect(link.watch.endProbe("lane", hasResponse: false, now: link.now) == true)
        #expect(link.permission() == .held(until: link.now + 300_000))
        link.now += 300_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        #expect(link.watch.endProbe("lane", hasResponse: true, now: link.now) == true)
        #expect(link.permission() == .open)
    }

    @Test("a slow probe without a result times out after two minutes")
    func lostProbe() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.now += 300_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        #expect(link.watch.nextProbe(now: link.now) == link.now + 120_000)
        link.now += 120_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
    }

    @Test("if two origins are slow together, the lanes of other origins also wait until one probe is fast")
    func everything() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(2_000), SlowLink.sample(2_000, "second", SlowLink.other))
        #expect(link.permission("third") == .held(until: link.now + 300_000))
        let hold = link.watch.hold("third", SlowLink.terms, now: link.now, unix: 0)
        #expect(hold?.sentence.hasPrefix("only 4.0 kB/s came from all servers together") == true)
        link.now += 300_000
        #expect(link.watch.probe(among: [("third", SlowLink.terms)], now: link.now) == "third")
        #expect(link.permission("fourth") == .held(until: nil))
        #expect(link.watch.probed("third", bytes: 300_000, milliseconds: 2_000, now: link.now) == true)
        #expect(link.permission("fourth") == .open)
        // A lane that was slow by itself needs its own probe.
        #expect(link.permission("second") == .probe)
    }

    @Test("one slow origin does not hold the lanes of other origins")
    func oneOrigin() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        #expect(link.permission("third") == .open)
    }

    @Test("a change to another network releases all slow lanes")
    func networkChanges() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.watch.networkChanged()
        #expect(link.permission() == .open)
    }

    @Test("the watch of throughput does not crash on extreme byte counts and times")
    func extremes() {
        var watch = SlowLink.Watch()
        for now in [0, 1, 1_000, .max / 2, 0] as [Int64] {
            _ = watch.take([SlowLink.sample(.max), SlowLink.sample(.max, "other", SlowLink.other)], now: now)
        }
        _ = watch.probed("lane", bytes: .max, milliseconds: .max, now: 0)
        _ = watch.hold("lane", SlowLink.terms, now: 0, unix: .max)
    }
}
