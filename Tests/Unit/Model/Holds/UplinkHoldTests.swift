import BackhaulModel
import Testing

@Suite("The hold of a dead uplink, and its probes")
struct UplinkHoldTests {
    typealias Fixture = HoldsFixture

    /// The uplink has failed while tasks wait in the lane, and a probe is due.
    private func withoutUplink() -> Fixture {
        var fixture = Fixture()
        _ = fixture.begin()
        _ = fixture.wait()
        _ = fixture.loseUplink()
        _ = fixture.judge()
        fixture.holds.probeUplinkNow(now: fixture.facts.boot)
        return fixture
    }

    @Test("after failures of three servers in a row, the tasks that need the uplink are held")
    func held() {
        var fixture = Fixture()
        _ = fixture.begin()
        let local = ConstraintGroup(session: Fixture.session, constraints: .session, networkScope: .localNetwork)
        #expect(fixture.holds.add(local, fixture.configuration) == true)
        #expect(fixture.loseUplink() == true)
        let actions = fixture.judge()
        #expect(actions.stopped == [Fixture.tasks])
        #expect(actions.begun == [.portal])
        #expect(fixture.holds.groups[local]?.mayStart == true)
    }

    @Test("a response proves that the uplink works")
    func responded() {
        var fixture = withoutUplink()
        #expect(fixture.respond(at: "d.example") == true)
        #expect(fixture.judge().loaded == [[1]])
        #expect(fixture.holds.uplink.isProven)
        #expect(fixture.respond(at: "d.example") == false)
    }

    @Test("if only two of three servers in use have failed, the tasks that need the uplink are not held")
    func othersWork() {
        var fixture = Fixture()
        let origins = Set(["a", "b", "works"].map { Fixture.origin($0 + ".example") })
        #expect(fixture.fail(at: "a.example", origins: origins) == false)
        #expect(fixture.fail(at: "b.example", origins: origins) == false)
        #expect(!fixture.holds.uplink.isHeld)
    }

    @Test("on another network, earlier failures do not count, and all groups are judged again")
    func otherNetwork() {
        var fixture = withoutUplink()
        #expect(fixture.holds.networkRead(isOther: false, nil, now: fixture.facts.boot) == false)
        #expect(fixture.holds.networkRead(isOther: true, nil, now: fixture.facts.boot) == true)
        #expect(fixture.judge().loaded == [[1]])
    }

    @Test("a probe starts only when it is due")
    func due() {
        var fixture = Fixture()
        _ = fixture.begin()
        _ = fixture.wait()
        _ = fixture.loseUplink()
        #expect(fixture.judge().probes == [])
        let next = fixture.holds.untilNextCheck(
            after: fixture.facts.boot, boot: fixture.facts.boot, wall: fixture.facts.wall, others: [])
        #expect(next == 10_000)
        fixture.advance(milliseconds: 10_000)
        #expect(fixture.judge() == [.loadProbe(Fixture.key, .uplink)])
    }

    @Test("only one uplink probe starts at a time")
    func once() {
        var fixture = withoutUplink()
        #expect(fixture.judge().probes == [.uplink])
        #expect(fixture.holds.lanesInUse.contains(Fixture.lane.id))
        #expect(fixture.judge().probes == [])
    }

    @Test("a lane with another hold gets no uplink probe")
    func otherHold() {
        var fixture = withoutUplink()
        fixture.facts.conditions.isPreparingForSleep = Reading(true)
        #expect(fixture.judge().probes == [])
    }

    @Test("after a probe for which the store found no task, the next probe starts a second later")
    func cancelled() {
        var fixture = withoutUplink()
        _ = fixture.judge()
        fixture.holds.cancelProbe(Fixture.key, .uplink, now: fixture.facts.boot)
        #expect(fixture.judge().probes == [])
        fixture.advance(milliseconds: 1_000)
        #expect(fixture.judge().probes == [.uplink])
    }

    @Test("if no slot is free for a probe, the probe gets the next slot that becomes free")
    func waits() {
        var fixture = withoutUplink()
        fixture.facts.hasSlot = { _ in false }
        #expect(fixture.judge().probes == [])
        #expect(fixture.holds.waitsForSlot)
        fixture.facts.hasSlot = { _ in true }
        #expect(fixture.holds.judgeLanes(fixture.facts).probes == [.uplink])
        #expect(!fixture.holds.waitsForSlot)
    }

    @Test("an uplink probe is not needed if the hold ends before the probe starts")
    func void() {
        var fixture = withoutUplink()
        _ = fixture.judge()
        #expect(fixture.holds.needsProbe(Fixture.key, in: Fixture.lane, .uplink))
        _ = fixture.respond(at: "d.example")
        #expect(!fixture.holds.needsProbe(Fixture.key, in: Fixture.lane, .uplink))
    }

    @Test("the lanes with tasks that wait only because of the uplink can be listed")
    func listed() {
        let fixture = withoutUplink()
        #expect(fixture.holds.heldByUplink(of: Fixture.session) == [Fixture.lane.id: [.session]])
        #expect(fixture.holds.heldByUplink(of: SessionID(rawValue: 2)).isEmpty)
    }
}
