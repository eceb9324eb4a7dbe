import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Probes of the uplink")
struct ProbeControllerTests {
    let world = ConditionWorld()
    var probes: ProbeController { world.parts.probes }
    let key = ConditionWorld.laneGroup

    /// Lets tasks wait in the lane while the uplink is held. A probe may start now.
    private func loseUplink() {
        _ = world.holds.add(ConditionWorld.group)
        _ = world.conditions.reconsider()
        _ = world.holds.setWaiting([.session], in: ConditionWorld.lane, isAll: false)
        for server in ["a.example", "b.example", "c.example"] {
            var task = world.below.task(1)
            task.lane = LaneID(rawValue: 99)
            task.origin = Origin(scheme: "https", server: server, port: 443)
            _ = world.parts.uplink.ended(task, .unreachable)
        }
        _ = world.conditions.reconsider()
        _ = world.parts.uplink.tryAtOnce()
    }

    private func storeHas(_ task: StoredTask?) throws {
        try world.runtime.storeReturns((task: task, nextDue: Int64?.none))
    }

    @Test("start the first waiting task of a lane without another hold")
    func starts() throws {
        loseUplink()
        probes.probeUplink()
        #expect(probes.lanesInUse == [ConditionWorld.lane.id])
        try storeHas(world.below.task(7))
        #expect(world.runtime.takeEffects().probes == [7])
        #expect(probes.lanesInUse.isEmpty)
    }

    @Test("are one at a time")
    func once() throws {
        loseUplink()
        probes.probeUplink()
        let calls = world.runtime.pendingStoreCalls
        probes.probeUplink()
        #expect(world.runtime.pendingStoreCalls == calls)
    }

    @Test("release their slot when no task waits, and their lane is loaded again")
    func noTask() throws {
        loseUplink()
        probes.probeUplink()
        _ = world.runtime.takeEffects()
        try storeHas(nil)
        let effects = world.runtime.takeEffects()
        #expect(effects.waiting == [[1]])
        #expect(effects.has(\.isPlanLook))
    }

    @Test("get the next free slot when none is free")
    func waits() throws {
        loseUplink()
        world.hasRoom = false
        let calls = world.runtime.pendingStoreCalls
        probes.probeUplink()
        #expect(world.runtime.pendingStoreCalls == calls)
        world.hasRoom = true
        _ = probes.takeFreeSlot()
        try storeHas(world.below.task(7))
        #expect(world.runtime.takeEffects().probes == [7])
    }

    @Test("are dropped when the hold ends before they start")
    func void() throws {
        loseUplink()
        probes.probeUplink()
        try storeHas(world.below.task(7))
        #expect(probes.isStillToProbe(key, .uplink))
        _ = world.parts.uplink.answered(world.below.task(8))
        #expect(!probes.isStillToProbe(key, .uplink))
    }

    @Test("list the lanes that a manual retry would release")
    func listed() {
        loseUplink()
        #expect(probes.heldByUplink(of: PartWorld.session) == [ConditionWorld.lane.id: [.session]])
        #expect(probes.heldByUplink(of: SessionID(rawValue: 2)).isEmpty)
    }
}
