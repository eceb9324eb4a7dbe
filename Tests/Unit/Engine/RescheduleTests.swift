import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

/// A *ready* task starts as soon as the limits on running tasks permit it.
@Suite("Tasks that are rescheduled")
struct RescheduleTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    private let all = TaskSelection()
    private var later: Int64 { Clock.wallMilliseconds + 3_600_000 }

    @Test("a task whose earliest start is removed starts immediately")
    func sooner() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var request = try store.request(origin.url("/a"), "a")
        request.options.earliestStartMilliseconds = later
        let task = try host.enqueue(request)[0]
        _ = try host.waits(task, for: .earliestStart)
        guard
            case .count(1) = try reply(
                host.session.control(.reschedule(Rescheduling(earliest: .to(nil))), all))
        else { throw Unexpected() }
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
    }

    @Test("if the earliest start of a ready task is postponed, the task is not started")
    func postponed() throws {
        origin.serve("/a", .init(bytes: pattern(4_000_000), bytesPerSecond: 100_000))
        for path in ["/b", "/c"] { origin.serve(path, .init(bytes: pattern(1_000))) }
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.maximumRunningTasks = 1
        let host = try engine.session(configuration)
        let tasks = try host.enqueue(
            store.request(origin.url("/a"), "a"), store.request(origin.url("/b"), "b"),
            store.request(origin.url("/c"), "c"))
        #expect(waitUntil { (try? host.info(tasks[0]).offset) ?? 0 > 0 })
        let start = later
        let put = try reply(
            host.session.control(.reschedule(Rescheduling(earliest: .to(start))), TaskSelection(ids: [tasks[1]])))
        guard case .count(1) = put else { throw Unexpected() }
        let info = try host.waits(tasks[1], for: .earliestStart)
        #expect(info.nextAttemptMilliseconds == start)
        _ = try reply(host.session.control(.cancel, TaskSelection(ids: [tasks[0]])))
        #expect(waitUntil { store.names(in: store.files).contains("c") })
        #expect(origin.requests("/b").isEmpty)
    }

    @Test("if the earliest start of a running task is postponed, the task continues, and waits before its next attempt")
    func running() throws {
        origin.serve("/a", .init(bytes: pattern(8_000_000), entityTag: "\"1\"", bytesPerSecond: 500_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.minimumBatteryPercent = 50 })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 500_000 })
        _ = try reply(host.session.control(.reschedule(Rescheduling(earliest: .to(later))), all))
        let before = try host.info(task)
        #expect(before.state == .running && before.nextAttemptMilliseconds == 0)
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > before.offset })
        engine.setConditions {
            $0.unplug()
            $0.batteryPercent = Reading(30, source: "test")
        }
        _ = try host.waits(task, for: .battery)
        engine.setConditions { $0.batteryPercent = Reading(60, source: "test") }
        let stopped = try host.waits(task, for: .earliestStart)
        #expect(stopped.offset > 500_000 && origin.requests.count == 1)
    }

    @Test("a task whose latest start has passed ignores its preset")
    func latestStart() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.preset = .discretionary })
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .power)
        let soon = Rescheduling(latest: .to(Clock.wallMilliseconds + 200))
        _ = try reply(host.session.control(.reschedule(soon), all))
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
    }

    @Test("listings show a task's own constraints, after the enqueue and after a replacement")
    func constraints() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresExternalPower = true })
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.constraints.quietHours = QuietHours("08:00-18:00")
        request.options.policy.constraints.preset = .overnight
        let tasks = try host.enqueue(request, store.request(origin.url("/b"), "b"))
        #expect(try host.info(tasks[0]).constraints?.value == request.options.policy.constraints)
        #expect(try host.info(tasks[1]).constraints == nil)
        var wifi = Constraints()
        wifi.networks = .wifi
        _ = try reply(host.session.control(.setConstraints(wifi), all))
        for task in tasks { #expect(try host.info(task).constraints?.value == wifi) }
        _ = try reply(host.session.control(.setConstraints(.none), all))
        for task in tasks { #expect(try host.info(task).constraints == nil) }
    }
}
