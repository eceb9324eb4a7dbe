import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Lanes without a route")
struct ReachabilityControllerTests {
    let world = PartWorld()
    var reachability: ReachabilityController { world.reachability }
    let lane = PartWorld.lane.id

    @Test("are held with one wait record, until the first check after five seconds")
    func held() throws {
        let (untilLook, effects) = reachability.hold(world.task(1))
        #expect(untilLook == 5_000)
        #expect(effects.heldLanes == [[1]])
        #expect(reachability.isHeld(lane))
        #expect(world.runtime.pendingStoreCalls == 1)
        #expect(reachability.hold(world.task(2)).untilLook == 5_000)
        #expect(world.runtime.pendingStoreCalls == 1, "the lane has one wait record")
    }

    @Test("are all released at the check, and the next check comes later")
    func tried() throws {
        _ = reachability.hold(world.task(1))
        world.runtime.advance(milliseconds: 5_000)
        #expect(!reachability.isHeld(lane))
        #expect(world.runtime.takeEffects().heldLanes == [[1]])
        try world.runtime.storeReturns([lane] as Set<LaneID>)
        #expect(world.runtime.takeEffects().waiting == [[1]])
        #expect(reachability.hold(world.task(1)).untilLook == 10_000)
    }

    @Test("are checked again later when the store cannot release their tasks")
    func failed() throws {
        _ = reachability.hold(world.task(1))
        world.runtime.advance(milliseconds: 5_000)
        _ = world.runtime.takeEffects()
        try world.runtime.storeReturns(Result<Set<LaneID>, Failure>.failure(Failure(.storeFull, "full")))
        #expect(world.runtime.takeEffects().contains { if case .due(.some) = $0 { true } else { false } })
    }

    @Test("are released at once by a manual retry")
    func asked() {
        _ = reachability.hold(world.task(1))
        #expect(reachability.tryNow([LaneID(rawValue: 9)]).isEmpty)
        #expect(reachability.tryNow([lane]).heldLanes == [[1]])
        #expect(!reachability.isHeld(lane))
        world.runtime.advance(milliseconds: 10_000)
        #expect(world.runtime.takeEffects().isEmpty, "no check is planned")
    }

    @Test("are checked after the shortest pause again when a server has responded")
    func connected() {
        _ = reachability.hold(world.task(1))
        world.runtime.advance(milliseconds: 5_000)
        reachability.connected()
        #expect(reachability.hold(world.task(1)).untilLook == 5_000)
    }
}

extension [EngineEffect] {
    fileprivate var heldLanes: [Set<UInt64>] {
        compactMap { if case .holdChanged(let lanes) = $0 { Set(lanes.map(\.rawValue)) } else { nil } }
    }
}
