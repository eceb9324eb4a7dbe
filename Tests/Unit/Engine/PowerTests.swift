import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

/// The engine reads a condition if a constraint depends on the condition.
@Suite("Tasks that wait for power")
struct PowerTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("a task that requires external power does not start on battery, and its reason says why")
    func waits() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        let info = try host.waits(task, for: .power)
        #expect(info.state == .waiting)
        #expect(info.reasonText == "the machine is on battery, and the transfer waits for external power")
        #expect(origin.requests.isEmpty)
    }

    @Test("a download stops when the battery is low, and resumes at its offset when the battery is charged")
    func unplugged() throws {
        let bytes = pattern(8_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 400_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.minimumBatteryPercent = 50 })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 400_000 })
        engine.setConditions {
            $0.unplug()
            $0.batteryPercent = Reading(30, source: "test")
        }
        let info = try host.waits(task, for: .battery)
        #expect(info.state == .waiting)
        #expect(info.offset > 400_000 && info.offset < 8_000_000)
        #expect(info.failure == nil)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        engine.setConditions { $0.batteryPercent = Reading(60, source: "test") }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/a") == bytes)
        #expect(origin.requests.count == 2)
        #expect(origin.requests[1].range == "bytes=\(info.offset)-")
    }

    @Test("tasks for hundreds of servers are held and released in the same way as tasks for one server")
    func manyOrigins() throws {
        let everywhere = try TestOrigin(address: "0.0.0.0")
        everywhere.serve("/a", .init(bytes: pattern(10)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        engine.setConditions { $0.batteryPercent = Reading(30, source: "test") }
        let host = try engine.session(.named { $0.minimumBatteryPercent = 50 })
        let requests = try (1...600).map { number in
            let server = "127.0.\(number / 250).\(1 + number % 250)"
            return try store.request("http://\(server):\(everywhere.port)/a", "\(number)")
        }
        let tasks = try enqueue(host.session, requests)
        for enqueued in tasks { _ = try host.waits(enqueued.task, for: .battery) }
        engine.setConditions { $0.batteryPercent = Reading(60, source: "test") }
        let ends = try eventsOfRound(host.session).compactMap(ended)
        #expect(ends.count == 600 && ends.allSatisfy { $0.outcome.state == .succeeded })
    }

    @Test("external power must last for ten seconds before tasks continue")
    func settles() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.preset = .discretionary })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        let plugged = Clock.bootMilliseconds
        engine.setConditions { $0.externalPower = Reading(true, source: "test") }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(Clock.bootMilliseconds - plugged >= 10_000)
    }

    @Test("if a task has stricter constraints than its session, other tasks of the same server are not delayed")
    func stricterTask() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        origin.serve("/b", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var strict = try store.request(origin.url("/a"), "a")
        strict.options.policy.constraints.requiresExternalPower = true
        strict.priority = 100
        let tasks = try host.enqueue(strict, store.request(origin.url("/b"), "b"))
        #expect(waitUntil { store.names(in: store.files).contains("b") })
        _ = try host.waits(tasks[0], for: .power)
        #expect(origin.requests("/a").isEmpty)
    }

    @Test("even a task with the highest priority waits until its constraints are met")
    func urgent() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        var request = try store.request(origin.url("/a"), "a")
        request.priority = Limits.priorityNow
        let task = try host.enqueue(request)[0]
        _ = try host.waits(task, for: .power)
        #expect(origin.requests.isEmpty)
    }

    @Test("when a session's constraints are removed, its tasks are released immediately")
    func updated() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        _ = try reply(host.session.submit { .updateConfiguration($0, SessionConfiguration(identifier: "s")) })
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
    }

    @Test("an engine that starts on battery starts no task that waits for power")
    func startsOnBattery() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let first = try FakeConditionsEngine(store, .onBattery)
        var host: TestSession? = try first.session(.named { $0.requiresExternalPower = true })
        let task = try #require(try host?.enqueue(store.request(origin.url("/a"), "a"))[0])
        _ = try host?.waits(task, for: .power)
        host = nil
        first.stop()
        let second = try FakeConditionsEngine(store, .onBattery)
        defer { second.stop() }
        let again = try second.session(SessionConfiguration(identifier: "s"))
        _ = try again.waits(task, for: .power)
        #expect(origin.requests.isEmpty)
    }

    @Test("held tasks can be cancelled, and their conditions are then no longer read")
    func cancelled() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        #expect(waitUntil { engine.conditions.needs.contains(.power) })
        _ = try reply(host.session.control(.cancel, TaskSelection()))
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .cancelled)
        #expect(waitUntil { engine.conditions.needs.isEmpty })
        #expect(try host.holds().isEmpty)
    }

    @Test("no condition is read for a session without constraints")
    func nothingIsRead() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        _ = try host.enqueue(store.request(origin.url("/a"), "a"))
        _ = try eventsOfRound(host.session)
        #expect(engine.conditions.allNeeds.isEmpty)
    }

    @Test("if a task gets new constraints, they apply immediately, in addition to the session's constraints")
    func restated() throws {
        let bytes = pattern(4_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 200_000))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.constraints.preset = .discretionary
        let task = try host.enqueue(request)[0]
        let all = TaskSelection()
        _ = try host.waits(task, for: .power)
        guard case .count(1) = try reply(host.session.control(.setConstraints(.none), all)) else { throw Unexpected() }
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 500_000 })
        _ = try reply(host.session.control(.setConstraints(request.options.policy.constraints), all))
        let stopped = try host.waits(task, for: .power)
        #expect(stopped.offset > 500_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        var configuration = SessionConfiguration(identifier: "s")
        configuration.constraints.minimumBatteryPercent = 90
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        _ = try reply(host.session.control(.setConstraints(.none), all))
        _ = try host.waits(task, for: .battery)
        _ = try reply(host.session.submit { .updateConfiguration($0, SessionConfiguration(identifier: "s")) })
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/a") == bytes)
    }

    @Test("a listed hold names its session and number of tasks, and a listed condition names its source")
    func listed() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let tasks = try host.enqueue(
            store.request(origin.url("/a"), "a"), store.request(origin.url("/b"), "b"))
        _ = try host.waits(tasks[1], for: .power)
        let holds = try host.holds()
        #expect(holds.count == 1)
        #expect(holds.first?.session == "s")
        #expect(holds.first?.application == "org.example.test")
        #expect(holds.first?.tasks == 2)
        #expect(holds.first?.hold.reason == .power)
        let power = try #require(try host.conditions()[.externalPower])
        #expect(power.isKnown && power.value == 0)
        #expect(power.text == "on battery")
        #expect(power.source == "test")
    }
}
