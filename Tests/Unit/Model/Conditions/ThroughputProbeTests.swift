import BackhaulModel
import Testing

@Suite("Probes of slow lanes")
struct ThroughputProbeTests {
    /// Returns two slow servers whose pauses are over.
    private func slow() -> SlowLink {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.pass(60, SlowLink.sample(0, "second", SlowLink.other))
        link.now += 300_000
        return link
    }

    private static let both = [(lane: "lane", terms: SlowLink.terms), (lane: "second", terms: SlowLink.terms)]

    @Test("only one lane has a probe at a time, and the sentences name it")
    func alone() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        #expect(link.watch.probe(among: Self.both, now: link.now) == nil)
        #expect(link.permission("second") == .held(until: nil))
        let holds = ["lane", "second"].map { link.watch.hold($0, SlowLink.terms, now: link.now, unix: 0) }
        #expect(holds[0]?.sentence.hasSuffix("and one task tries whether it is better") == true)
        #expect(holds[1]?.sentence.hasSuffix("and one task tries again after that of another server") == true)
        #expect(holds.map { $0?.nextLookMilliseconds } == [nil, nil])
    }

    @Test("the next probe goes to the lane that was probed longest ago")
    func turns() {
        var link = slow()
        var tried: [String] = []
        for _ in 0..<4 {
            guard let lane = link.watch.probe(among: Self.both, now: link.now) else { break }
            tried.append(lane)
            #expect(link.watch.endProbe(lane, hasAnswered: false, now: link.now) == true)
            link.now += 300_000
        }
        #expect(tried == ["lane", "second", "lane", "second"])
    }

    @Test("a lane without a startable task releases the probe to another")
    func givenBack() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        link.watch.giveBackProbe("lane", now: link.now)
        #expect(link.watch.probe(among: Self.both, now: link.now) == nil)
        #expect(link.watch.nextProbe(now: link.now) == link.now + 1_000)
        link.now += 1_000
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("a probe does not release lanes that became slow after it began")
    func decidesItsOwn() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0))
        link.now += 300_000
        #expect(link.watch.probe(among: [("lane", SlowLink.terms)], now: link.now) == "lane")
        link.pass(60, SlowLink.sample(0, "second", SlowLink.other), SlowLink.sample(0, "third"))
        #expect(link.watch.probed("lane", bytes: 300_000, milliseconds: 2_000, now: link.now) == true)
        #expect(link.permission() == .held(until: link.now + 300_000))
    }

    @Test("changed settings during a probe do not keep it from ending")
    func otherTerms() {
        var link = SlowLink()
        link.pass(60, SlowLink.sample(0), SlowLink.sample(0, "second", SlowLink.other))
        link.now += 300_000
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        // The lane's terms are not used any more.
        #expect(link.watch.probed("lane", bytes: 300_000, milliseconds: 2_000, now: link.now) == true)
        #expect(link.permission("third") == .open)
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("a probe without measured time ends after a minute and releases its lane")
    func undecided() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now + 59_999) == false)
        link.now += 60_000
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now) == true)
        #expect(link.permission() == .open)
        #expect(link.permission("second") == .probe)
    }

    @Test("a lost probe is stopped without a result")
    func nobodys() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        _ = link.watch.networkChanged()
        #expect(link.watch.probed("lane", bytes: 0, milliseconds: 0, now: link.now) == true)
        #expect(link.watch.endProbe("lane", hasAnswered: false, now: link.now) == false)
    }

    @Test("a lane without tasks releases the probe to another at once")
    func forgotten() {
        var link = slow()
        #expect(link.watch.probe(among: Self.both, now: link.now) == "lane")
        link.watch.forget("lane")
        #expect(link.watch.probe(among: Self.both, now: link.now) == "second")
    }

    @Test("a pause ends after an hour without a probe")
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
