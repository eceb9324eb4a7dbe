import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The *uplink* is the route from the local network to other networks. While the uplink does not work, the tasks that
/// need it wait: they have a *hold*. One of them runs as the *uplink probe*, which tests whether the uplink works
/// again. A *slot* is the right of a task to run. The *store* is the database with all tasks.
@Suite("Uplink probes")
struct ProbeControllerTests {
    let fixture = ConditionsFixture()
    var probes: ProbeController { fixture.parts.probes }
    let key = ConditionsFixture.laneGroup

    /// Lets the uplink fail while tasks wait in the lane. Then an uplink probe may start.
    private func loseUplink() {
        _ = fixture.holds.add(ConditionsFixture.group)
        _ = fixture.conditions.reconsider()
        _ = fixture.holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: false)
        for server in ["a.example", "b.example", "c.example"] {
            var task = fixture.base.task(1)
            task.lane = LaneID(rawValue: 99)
            task.origin = Origin(scheme: "https", server: server, port: 443)
            _ = fixture.parts.uplink.ended(task, .unreachable)
        }
        _ = fixture.conditions.reconsider()
        _ = fixture.parts.uplink.probeNow()
    }

    private func storeHas(_ task: StoredTask?) throws {
        try fixture.runtime.storeReturns((task: task, nextDue: Int64?.none))
    }

    @Test("the first waiting task of a lane becomes the uplink probe if the lane has no other hold")
    func starts() throws {
        loseUplink()
        probes.probeUplink()
        #expect(probes.lanesInUse == [ConditionsFixture.lane.id])
        try storeHas(fixture.base.task(7))
        #expect(fixture.runtime.takeEffects().probes == [7])
        #expect(probes.lanesInUse.isEmpty)
    }

    @Test("only one uplink probe starts at a time")
    func once() throws {
        loseUplink()
        probes.probeUplink()
        let calls = fixture.runtime.pendingStoreCalls
        probes.probeUplink()
        #expect(fixture.runtime.pendingStoreCalls == calls)
    }

    @Test("if the store finds no task for an uplink probe, the probe's slot is released for other tasks")
    func noTask() throws {
        loseUplink()
        probes.probeUplink()
        _ = fixture.runtime.takeEffects()
        try storeHas(nil)
        let effects = fixture.runtime.takeEffects()
        #expect(effects.waiting == [[1]])
        #expect(effects.has(\.isScheduleCheck))
    }

    @Test("if no slot is free for an uplink probe, the probe gets the next slot that becomes free")
    func waits() throws {
        loseUplink()
        fixture.hasCapacity = false
        let calls = fixture.runtime.pendingStoreCalls
        probes.probeUplink()
        #expect(fixture.runtime.pendingStoreCalls == calls)
        fixture.hasCapacity = true
        _ = probes.takeFreeSlot()
        try storeHas(fixture.base.task(7))
        #expect(fixture.runtime.takeEffects().probes == [7])
    }

    @Test("an uplink probe is dropped when the hold ends before the probe starts")
    func void() throws {
        loseUplink()
        probes.probeUplink()
        try storeHas(fixture.base.task(7))
        #expect(probes.needsProbe(key, .uplink))
        _ = fixture.parts.uplink.responded(fixture.base.task(8))
        #expect(!probes.needsProbe(key, .uplink))
    }

    @Test("the lanes with tasks that wait only because of the uplink can be listed")
    func listed() {
        loseUplink()
        #expect(probes.heldByUplink(of: EngineFixture.session) == [ConditionsFixture.lane.id: [.session]])
        #expect(probes.heldByUplink(of: SessionID(rawValue: 2)).isEmpty)
    }
}
