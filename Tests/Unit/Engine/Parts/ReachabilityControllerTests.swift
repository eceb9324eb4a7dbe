import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// A *manual retry* is a command of the host to run waiting tasks now.
@Suite("Lanes without a route")
struct ReachabilityControllerTests {
    let fixture = EngineFixture()
    var reachability: ReachabilityController { fixture.reachability }
    let lane = EngineFixture.lane.id

    @Test("a lane without a route has one wait record, and is held for five seconds until the first check")
    func held() throws {
        let (millisecondsUntilCheck, effects) = reachability.hold(fixture.task(1))
        #expect(millisecondsUntilCheck == 5_000)
        #expect(effects.heldLanes == [[1]])
        #expect(effects.waitsBegun == [.route(lane)])
        #expect(reachability.isHeld(lane))
        let (again, more) = reachability.hold(fixture.task(2))
        #expect(again == 5_000)
        #expect(more.waitsBegun.isEmpty, "the lane has one wait record")
        #expect(reachability.responded(lane).waitsEnded == [.route(lane)])
        #expect(reachability.responded(lane).isEmpty)
    }

    @Test("a check releases all lanes without a route, and the next check comes after a longer pause")
    func tried() throws {
        _ = reachability.hold(fixture.task(1))
        fixture.runtime.advance(milliseconds: 5_000)
        #expect(!reachability.isHeld(lane))
        #expect(fixture.runtime.takeEffects().heldLanes == [[1]])
        try fixture.runtime.storeReturns([lane] as Set<LaneID>)
        #expect(fixture.runtime.takeEffects().waiting == [[1]])
        #expect(reachability.hold(fixture.task(1)).millisecondsUntilCheck == 10_000)
    }

    @Test("if the store cannot release the tasks of a lane without a route, the lane is checked again later")
    func failed() throws {
        _ = reachability.hold(fixture.task(1))
        fixture.runtime.advance(milliseconds: 5_000)
        _ = fixture.runtime.takeEffects()
        try fixture.runtime.storeReturns(Result<Set<LaneID>, Failure>.failure(Failure(.storeFull, "full")))
        #expect(fixture.runtime.takeEffects().contains { if case .due(.some) = $0 { true } else { false } })
    }

    @Test("a manual retry immediately releases a lane without a route")
    func asked() {
        _ = reachability.hold(fixture.task(1))
        #expect(reachability.retryNow([LaneID(rawValue: 9)]).isEmpty)
        #expect(reachability.retryNow([lane]).heldLanes == [[1]])
        #expect(!reachability.isHeld(lane))
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(fixture.runtime.takeEffects().isEmpty, "no check is planned")
    }

    @Test("after a server has responded, the next check of a lane without a route comes after the shortest pause")
    func connected() {
        _ = reachability.hold(fixture.task(1))
        fixture.runtime.advance(milliseconds: 5_000)
        reachability.connected()
        #expect(reachability.hold(fixture.task(1)).millisecondsUntilCheck == 5_000)
    }
}

extension [EngineEffect] {
    fileprivate var heldLanes: [Set<UInt64>] {
        compactMap { if case .holdChanged(let lanes) = $0 { Set(lanes.map(\.rawValue)) } else { nil } }
    }
}
