import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The uplink")
struct UplinkMonitorTests {
    let world = ConditionWorld()
    var uplink: UplinkMonitor { world.parts.uplink }

    private func task(at server: String) -> StoredTask {
        var task = world.below.task(1)
        task.lane = LaneID(rawValue: 99)
        task.origin = Origin(scheme: "https", server: server, port: 443)
        return task
    }

    /// Lets attempts at three servers fail.
    private func loseUplink(_ suffix: String = ".example") -> [EngineEffect] {
        ["a", "b", "c"].flatMap { uplink.ended(task(at: $0 + suffix), .unreachable) }
    }

    @Test("is held after failures of three origins in a row")
    func held() {
        #expect(loseUplink().count(\.isReconsider) == 1)
        #expect(uplink.isHeld)
        #expect(uplink.hold(unix: 0)?.reason == .portal)
        #expect(uplink.isHeld(for: task(at: "d.example")))
        #expect(!uplink.isHeld(for: task(at: "192.168.0.1")))
    }

    @Test("is not judged by servers on this machine or link")
    func local() {
        #expect(loseUplink(".local").isEmpty)
        #expect(!uplink.isHeld)
    }

    @Test("is proven by a response")
    func answered() {
        _ = loseUplink()
        #expect(uplink.answered(task(at: "d.example")).count(\.isReconsider) == 1)
        #expect(!uplink.isHeld)
        #expect(uplink.isProven)
        #expect(uplink.answered(task(at: "d.example")).isEmpty)
    }

    @Test("is not held while two of three origins in use have failed")
    func othersWork() {
        world.running.tasks = [task(at: "works.example"), task(at: "a.example"), task(at: "b.example")]
        _ = uplink.ended(task(at: "a.example"), .unreachable)
        _ = uplink.ended(task(at: "b.example"), .unreachable)
        #expect(!uplink.isHeld)
    }

    @Test("is probed at once on a manual retry")
    func probes() {
        _ = loseUplink()
        #expect(!uplink.mayProbe)
        #expect(uplink.tryAtOnce().count(\.isReconsider) == 1)
        #expect(uplink.mayProbe)
    }
}
