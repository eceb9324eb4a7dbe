import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Tasks that wait because of heat, sleep or time")
struct ConditionTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("a critical thermal state stops a long transfer, even in a session without constraints")
    func critical() throws {
        origin.serve("/a", .init(bytes: pattern(20_000_000), entityTag: "\"1\"", bytesPerSecond: 1_000_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { engine.conditions.needs.contains(.heat) })
        engine.setConditions { $0.thermalState = Reading(.critical, source: "x86_pkg_temp") }
        let info = try host.waits(task, for: .heat)
        #expect(info.state == .waiting)
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }

    @Test("during a series of short transfers, heat and sleep are watched, and critical heat stops the series")
    func stream() throws {
        origin.serve("/a", .init(bytes: pattern(400_000), bytesPerSecond: 500_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.connectionsPerOrigin = 1
        let host = try engine.session(configuration)
        let requests = try (0..<30).map { try store.request(origin.url("/a"), "\($0)") }
        _ = try EngineTests.enqueue(host.session, requests)
        #expect(waitUntil { engine.conditions.needs.isSuperset(of: [.heat, .sleep]) })
        engine.setConditions { $0.thermalState = Reading(.critical, source: "x86_pkg_temp") }
        #expect(waitUntil { (try? host.holds().first?.hold.reason) == .heat })
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }

    @Test("before the system sleeps, transfers stop and the engine permits the sleep; afterwards, the transfers resume")
    func sleeps() throws {
        let bytes = pattern(6_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 1_000_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { engine.conditions.needs.contains(.sleep) })
        engine.setConditions { $0.isPreparingForSleep = Reading(true, source: "logind") }
        #expect(waitUntil { engine.conditions.isReadyToSleep })
        let info = try host.waits(task, for: .sleep)
        #expect(info.offset > 1_000_000)
        engine.setConditions { $0.isPreparingForSleep = Reading(false, source: "logind") }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/a") == bytes)
    }

    @Test("at its latest start, a task no longer waits for its preset, but still waits for its other constraints")
    func latestStart() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.preset = .discretionary })
        let latest = Clock.wallMilliseconds + 1_500
        var later = try store.request(origin.url("/b"), "c")
        later.options.latestStartMilliseconds = latest + 3_600_000
        var withPreset = try store.request(origin.url("/a"), "a")
        withPreset.options.latestStartMilliseconds = latest
        var withPower = try store.request(origin.url("/b"), "b")
        withPower.options.latestStartMilliseconds = latest
        withPower.options.policy.constraints.requiresExternalPower = true
        let tasks = try host.enqueue(later, withPreset, withPower)
        _ = try host.waits(tasks[0], for: .power)
        #expect(waitUntil { store.names(in: store.files).contains("a") })
        #expect(Clock.wallMilliseconds >= latest)
        _ = try host.waits(tasks[2], for: .power)
        #expect(origin.requests("/b").isEmpty)
    }

    @Test("a task waits until its earliest start, and its listing shows that time")
    func earliestStart() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var request = try store.request(origin.url("/a"), "a")
        let start = Clock.wallMilliseconds + 3_600_000
        request.options.earliestStartMilliseconds = start
        var second = try store.request(origin.url("/a"), "b")
        let soon = Clock.wallMilliseconds + 1_500
        second.options.earliestStartMilliseconds = soon
        let task = try host.enqueue(request, second)[0]
        let info = try host.waits(task, for: .earliestStart)
        #expect(info.nextAttemptMilliseconds == start)
        #expect(info.reasonText?.hasPrefix("it is to start at ") == true)
        #expect(waitUntil { store.names(in: store.files).contains("b") })
        #expect(Clock.wallMilliseconds >= soon)
    }

    @Test("tasks are held until the end of the quiet hours")
    func quietHours() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        // The quiet hours, in which tasks wait, cover the whole day except one hour. This hour begins two hours from
        // now.
        let now = Clock.wallMilliseconds
        let minute = (now + Clock.localOffsetMilliseconds(at: now)) / 60_000 % 1_440
        let (end, begin) = (UInt16((minute + 120) % 1_440), UInt16((minute + 180) % 1_440))
        let host = try engine.session(
            .named { $0.quietHours = QuietHours(spans: [.init(begin: begin, end: end)]) })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        let info = try host.waits(task, for: .quietHours)
        let wait = info.nextAttemptMilliseconds - Clock.wallMilliseconds
        #expect(wait > 110 * 60_000 && wait <= 120 * 60_000)
        #expect(origin.requests.isEmpty)
    }

    @Test("a held task fails when its resource time-out ends")
    func overdue() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.resourceTimeoutMilliseconds = 1_500
        _ = try host.enqueue(request)
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.failure?.status == .resourceTimeout)
        #expect(origin.requests.isEmpty)
    }

    @Test("a task's wait records show why the task waited, and when each wait began and ended")
    func waited() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        let before = Clock.wallMilliseconds
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        _ = try reply(host.session.submit { .updateConfiguration($0, SessionConfiguration(identifier: "s")) })
        _ = try eventsOfRound(host.session)
        let waits = try waitRecords(of: task, in: host.session)
        #expect(waits.count == 1)
        let wait = try #require(waits.first)
        #expect(wait.reason == .power)
        #expect(wait.beganMilliseconds >= before)
        #expect(try #require(wait.endedMilliseconds) >= wait.beganMilliseconds)
    }
}
