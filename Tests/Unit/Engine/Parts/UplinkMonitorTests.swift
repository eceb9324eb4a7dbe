import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The *uplink* is the route from the local network to other networks. While the uplink does not work, the tasks that
/// need it are *held*: they wait. One of these tasks, the *uplink probe*, tests whether the uplink works again. A
/// *manual retry* is a command to run waiting tasks now.
@Suite("The uplink")
struct UplinkMonitorTests {
    let fixture = ConditionsFixture()
    var uplink: UplinkMonitor { fixture.parts.uplink }

    private func task(at server: String) -> StoredTask {
        var task = fixture.base.task(1)
        task.lane = LaneID(rawValue: 99)
        task.origin = Origin(scheme: "https", server: server, port: 443)
        return task
    }

    /// Reports failed attempts at three servers.
    private func loseUplink(_ suffix: String = ".example") -> [EngineEffect] {
        ["a", "b", "c"].flatMap { uplink.ended(task(at: $0 + suffix), .unreachable) }
    }

    @Test("after failures of three servers in a row, the tasks that need the uplink are held")
    func held() {
        #expect(loseUplink().count(\.isReconsider) == 1)
        #expect(uplink.isHeld)
        #expect(uplink.hold(unix: 0)?.reason == .portal)
        #expect(uplink.isHeld(for: task(at: "d.example")))
        #expect(!uplink.isHeld(for: task(at: "192.168.0.1")))
    }

    @Test("failures of servers on this machine or the local network do not hold the tasks that need the uplink")
    func local() {
        #expect(loseUplink(".local").isEmpty)
        #expect(!uplink.isHeld)
    }

    @Test("a response proves that the uplink works")
    func responded() {
        _ = loseUplink()
        #expect(uplink.responded(task(at: "d.example")).count(\.isReconsider) == 1)
        #expect(!uplink.isHeld)
        #expect(uplink.isProven)
        #expect(uplink.responded(task(at: "d.example")).isEmpty)
    }

    @Test("if only two of three servers in use have failed, the tasks that need the uplink are not held")
    func othersWork() {
        fixture.running.tasks = [task(at: "works.example"), task(at: "a.example"), task(at: "b.example")]
        _ = uplink.ended(task(at: "a.example"), .unreachable)
        _ = uplink.ended(task(at: "b.example"), .unreachable)
        #expect(!uplink.isHeld)
    }

    @Test("a manual retry permits an uplink probe immediately")
    func probes() {
        _ = loseUplink()
        #expect(!uplink.mayProbe)
        #expect(uplink.probeNow().count(\.isReconsider) == 1)
        #expect(uplink.mayProbe)
    }
}
