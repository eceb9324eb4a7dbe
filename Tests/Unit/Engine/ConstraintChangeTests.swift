import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Tasks with replaced constraints")
struct ConstraintChangeTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("a running task stops when it gets constraints that are not met, and resumes when its constraints are met")
    func joins() throws {
        let bytes = pattern(4_000_000)
        origin.serve("/a", .init(bytes: pattern(1_000)))
        origin.serve("/b", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 200_000))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var constraints = Constraints()
        constraints.minimumBatteryPercent = 90
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.constraints = constraints
        let tasks = try host.enqueue(request, store.request(origin.url("/b"), "b"))
        _ = try host.waits(tasks[0], for: .battery)
        #expect(waitUntil { (try? host.info(tasks[1]).offset) ?? 0 > 0 })
        _ = try reply(host.session.control(.setConstraints(constraints), TaskSelection(ids: [tasks[1]])))
        let stopped = try host.waits(tasks[1], for: .battery)
        #expect(stopped.offset < 4_000_000)
        origin.serve("/b", .init(bytes: bytes, entityTag: "\"1\""))
        engine.setConditions { $0.batteryPercent = Reading(100, source: "test") }
        _ = try eventsOfRound(host.session)
        #expect(store.bytes(of: store.files + "/b") == bytes)
    }

    @Test("a task is held by its constraints even after all earlier tasks with the same constraints have ended")
    func again() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.constraints.requiresExternalPower = true
        for _ in 0..<2 {
            let task = try host.enqueue(request)[0]
            _ = try host.waits(task, for: .power)
            _ = try reply(host.session.control(.cancel, TaskSelection()))
            #expect(waitUntil { engine.conditions.needs.isEmpty })
        }
        #expect(origin.requests.isEmpty)
    }
}
