import BackhaulClient
import BackhaulEngine
import BackhaulModel
import Testing

@Suite("The metrics of an engine")
struct MetricsTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    private func lines(_ host: TestSession) throws -> [Substring] {
        guard case .metrics(let text) = try reply(host.application.submit(.metrics)) else { throw Unexpected() }
        return text.split(separator: "\n")
    }

    @Test("a task that is held counts as waiting, with the reason of the listing")
    func held() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        let before = try lines(host)
        #expect(before.contains(#"backhaul_waiting_tasks{reason="power"} 1"#))
        #expect(before.contains(#"backhaul_waiting_tasks{reason="slot"} 0"#))
        #expect(before.contains(#"backhaul_tasks{state="waiting"} 1"#))
        engine.setConditions { $0 = .pluggedIn }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        let after = try lines(host)
        #expect(after.contains(#"backhaul_waiting_tasks{reason="power"} 0"#))
        #expect(after.contains(#"backhaul_tasks{state="succeeded"} 1"#))
        #expect(after.contains(#"backhaul_ended_tasks_total{outcome="succeeded"} 1"#))
        #expect(after.contains("backhaul_received_bytes_total 1000"))
    }

    @Test("a download that continues counts the bytes that were not received again")
    func resumed() throws {
        let bytes = pattern(500_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 40_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 100_000 })
        engine.setConditions { $0.unplug() }
        let offset = try host.waits(task, for: .power).offset
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        #expect(try lines(host).contains(#"backhaul_attempts_total{outcome="stopped"} 1"#))
        engine.setConditions { $0 = .pluggedIn }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(try lines(host).contains("backhaul_resumed_bytes_total \(offset)"))
    }
}
