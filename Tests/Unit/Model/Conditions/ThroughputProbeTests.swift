import BackhaulModel
import Testing

/// The *sentence* of a hold explains why the tasks wait.
@Suite("Probes of slow lanes")
struct ThroughputProbeTests {
    /// Returns a link with two slow lanes of two origins. The pauses of the two lanes are over.
    private func slow() -> SlowLink {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.pass(60, SlowLink.sample(0, "second", SlowLink.other))
        link.now += 300_000
        return link
    }

    private static let both = [(lane: "lane", terms: SlowLink.terms), (lane: "second", terms: SlowLink.terms)]

    @Test("only one lane at a time has a slow probe, and the sentences of the holds say so")
    func alone() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        #expect(link.watch.probe(among: Self.both, now: link.now) == nil)
        #expect(link.permission("second") == .held(until: nil))
        let holds = ["lane", "second"].map { link.watch.hold($0, SlowLink.terms, now: link.now, unix: 0) }
        #expect(holds[0]?.sentence.hasSuffix("and one task measures the throughput now") == true)
        #expect(holds[1]?.sentence.hasSuffix("tests the rate again after the test of another server") == true)
        #expect(holds.map { $0?.nextCheckMilliseconds } == [nil, nil])
    }

    @Test("the next slow probe is for the lane whose last probe was the longest time ago")
    func turns() {
        var link = slow()
        var tried: [String] = []
        for _ in 0..<4 {
            guard let lane = link.watch.probe(among: Self.both, now: link.now) else { break }
            tried.append(lane)
            #expect(link.watch.endProbe(lane, hasResponse: false, now: link.now) == true)
            link.now += 300_000
        }
        #expect(tried == ["lane", "second", "lane", "second"])
    }

    @Test("if a lane cannot start a task for its slow probe, another lane gets the probe")
    func givenBack() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        link.watch.cancelProbe("lane", now: link.now)
        #expect(link.watch.probe(among: Self.both, now: link.now) == nil)
        #expect(link.watch.nextProbe(now: link.now) == link.now + 1_000)
        link.now += 1_000
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("if all servers together become slow during a slow probe, the probe's success does not release its lane")
    func decidesItsOwn() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.now += 300_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        link.pass(60, SlowLink.sample(0, "second", SlowLink.other), SlowLink.sample(0, "third"))
        #expect(link.watch.probed("lane", bytes: 300_000, milliseconds: 2_000, now: link.now) == true)
        #expect(link.permission() == .held(until: link.now + 300_000))
    }

    @Test("if the settings of a lane change during its slow probe, the probe still ends with a result")
    func otherTerms() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0), SlowLink.sample(0, "second", SlowLink.other))
        link.now += 300_000
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        // This call does not get the settings of the lane, so changed settings have no effect.
        #expect(link.watch.probed("lane", bytes: 300_000, milliseconds: 2_000, now: link.now) == true)
        #expect(link.permission("third") == .open)
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("if a slow probe waits for a minute for something other than the network, it ends and releases its lane")
    func undecided() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now + 59_999) == false)
        link.now += 60_000
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now) == true)
        #expect(link.permission() == .open)
        #expect(link.permission("second") == .probe)
    }

    @Test("if a change of the network releases a lane, the lane's slow probe stops without a result")
    func nobodys() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        link.watch.networkChanged()
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now) == true)
        #expect(link.watch.endProbe("lane", hasResponse: false, now: link.now) == false)
    }

    @Test("when a lane has no tasks any more, another lane gets its slow probe at once")
    func forgotten() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        link.watch.forget("lane")
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("the pause of a slow lane ends after an hour without a probe")
    func unused() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.changes = []
        link.now += 300_000 + 3_600_000
        link.pass(1, SlowLink.sample(50_000, "second", SlowLink.other))
        #expect(link.changes == [link.now])
        #expect(link.permission() == .open)
    }
}
