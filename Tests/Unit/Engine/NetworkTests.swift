import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite(
    "Tasks that wait for a network",
    .enabled(if: TestOrigin.address != nil, "the machine has an address other than 127.0.0.1"))
struct NetworkTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
    }

    /// Enqueues the download of /a.
    private func fetch(_ host: TestSession) throws -> TaskID {
        try host.enqueue(store.request(origin.url("/a"), "a"))[0]
    }

    /// Waits until all tasks of the session have ended. Returns whether the first event reports a success.
    private func succeeds(_ host: TestSession) throws -> Bool {
        ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded
    }

    /// Returns the configuration of a session with this daily budget.
    private func budget(daily: UInt64) -> SessionConfiguration {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.budget.daily = daily
        return configuration
    }

    @Test("a task that requires an unmetered network is held on a metered network until the network changes")
    func metered() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        engine.setConditions {
            $0.network = Reading(Network(name: "Hotspot", kind: .wifi), source: "test")
            $0.isMetered = Reading(true, source: "test")
        }
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresUnmetered = true })
        let task = try fetch(host)
        let info = try host.waits(task, for: .metered)
        #expect(info.reasonText?.contains("Hotspot") == true)
        engine.setConditions { $0 = .pluggedIn }
        #expect(try succeeds(host))
    }

    @Test("transfers with servers on loopback do not depend on networks")
    func local() throws {
        let local = try TestOrigin()
        local.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        engine.setConditions { $0.isMetered = Reading(true, source: "test") }
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresUnmetered = true })
        _ = try host.enqueue(store.request(local.url("/a"), "a"))
        #expect(try succeeds(host))
    }

    @Test("a running task stops when the kind of the network is not allowed, and resumes on an allowed network")
    func kind() throws {
        let bytes = pattern(4_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 200_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.networks = [.ethernet, .wifi] })
        let task = try fetch(host)
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 100_000 })
        engine.setConditions { $0.network = Reading(Network(name: "Phone", kind: .cellular), source: "test") }
        let info = try host.waits(task, for: .network)
        #expect(info.state == .waiting)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        engine.setConditions { $0 = .pluggedIn }
        #expect(try succeeds(host))
        #expect(store.bytes(of: store.files + "/a") == bytes)
        #expect(origin.requests.count == 2)
    }

    @Test("if a redirect leads to a server without a route, the other tasks of the first server run")
    func redirectedNowhere() throws {
        // A multicast address: the kernel cannot connect to it, and reports no route.
        origin.serve("/a", .init(bytes: [], location: "http://224.0.0.1/a"))
        origin.serve("/b", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        _ = try host.waits(try fetch(host), for: .retry)
        let other = try host.enqueue(store.request(origin.url("/b"), "b"))[0]
        #expect(waitUntil { (try? host.info(other).state) == .succeeded })
    }

    @Test("behind a portal, no task fails; one task tests the network, and all tasks resume when the test succeeds")
    func portal() throws {
        for path in ["/a", "/b"] { origin.serve(path, .init(bytes: pattern(10), status: 511)) }
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.connectionsPerOrigin = 1
        let began = Clock.wallMilliseconds
        let host = try engine.session(configuration)
        let tasks = try host.enqueue(
            store.request(origin.url("/a"), "a"), store.request(origin.url("/b"), "b"))
        let info = try host.waits(tasks[0], for: .portal)
        #expect(info.state == .waiting)
        #expect(info.reasonText?.contains("portal") == true)
        _ = try host.waits(tasks[1], for: .portal)
        // The engine sends at most one request in 10 seconds. On a busy machine, more than 10 seconds may have passed,
        // so more requests are allowed then.
        #expect(origin.requests.count <= 1 + Int(Clock.wallMilliseconds - began) / 10_000)
        #expect(waitUntil { engine.conditions.needs.contains(.network) })
        origin.serve("/a", .init(bytes: pattern(1_000)))
        origin.serve("/b", .init(bytes: pattern(1_000)))
        let events = try eventsOfRound(host.session)
        #expect(events.compactMap(ended).map(\.outcome.state) == [.succeeded, .succeeded])
    }

    @Test("when the network changes, tasks that a portal holds are retried immediately")
    func otherNetwork() throws {
        origin.serve("/a", .init(bytes: pattern(10), status: 511))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let task = try fetch(host)
        let nextAttempt = try host.waits(task, for: .portal).nextAttemptMilliseconds
        origin.serve("/a", .init(bytes: pattern(1_000)))
        #expect(waitUntil { engine.conditions.needs.contains(.network) })
        engine.setConditions { $0.network = Reading(Network(name: "Phone", kind: .cellular), source: "test") }
        let event = try eventsOfRound(host.session)[0]
        #expect(ended(event)?.outcome.state == .succeeded)
        #expect(event.timeMilliseconds < nextAttempt)
    }

    @Test("a task that a portal holds is retried immediately after a resume command")
    func resumed() throws {
        origin.serve("/a", .init(bytes: pattern(10), status: 511))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        let nextAttempt = try host.waits(task, for: .portal).nextAttemptMilliseconds
        origin.serve("/a", .init(bytes: pattern(1_000)))
        guard case .count(let resumed) = try reply(host.session.control(.resume, TaskSelection(ids: [task]))) else {
            throw Unexpected()
        }
        #expect(resumed == 1)
        let event = try eventsOfRound(host.session)[0]
        #expect(ended(event)?.outcome.state == .succeeded)
        #expect(event.timeMilliseconds < nextAttempt)
    }

    @Test("a demand for an unmetered network delays only tasks for remote servers, and only these have wait records")
    func mixed() throws {
        let local = try TestOrigin()
        local.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        engine.setConditions { $0.isMetered = Reading(true, source: "test") }
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresUnmetered = true })
        let tasks = try host.enqueue(
            store.request(origin.url("/far"), "far"), store.request(local.url("/a"), "near"))
        _ = try host.waits(tasks[0], for: .metered)
        #expect(waitUntil { store.names(in: store.files).contains("near") })
        let far = try waitRecords(of: tasks[0], in: host.session)
        #expect(far.map(\.reason) == [.metered])
        #expect(far.first?.endedMilliseconds == nil)
        let near = try waitRecords(of: tasks[1], in: host.session)
        #expect(near.isEmpty)
    }

    @Test("a transfer stops when its daily budget is used up, and resumes when the budget is removed")
    func budget() throws {
        let bytes = pattern(3_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 300_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = budget(daily: 1_000_000)
        let host = try engine.session(configuration)
        let task = try fetch(host)
        let info = try host.waits(task, for: .budget)
        #expect(info.state == .waiting)
        #expect(info.offset >= 900_000 && info.offset < 2_000_000)
        #expect(info.reasonText?.contains("Home") == true)
        let untilMidnight = info.nextAttemptMilliseconds - Clock.wallMilliseconds
        #expect(untilMidnight > 0 && untilMidnight <= 25 * 3_600_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        configuration.budget.daily = nil
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        #expect(try succeeds(host))
        #expect(store.bytes(of: store.files + "/a") == bytes)
    }

    @Test("a task that is larger than the remaining budget waits, and smaller tasks run")
    func sizeHint() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        origin.serve("/b", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = budget(daily: 1_000_000)
        let host = try engine.session(configuration)
        var large = try store.request(origin.url("/a"), "a")
        large.options.expectedBytesReceived = 5_000_000
        let tasks = try host.enqueue(large, store.request(origin.url("/b"), "b"))
        let info = try host.waits(tasks[0], for: .budget)
        #expect(info.reasonText?.hasPrefix("the transfer expects 5.0 MB") == true)
        #expect(waitUntil { store.names(in: store.files).contains("b") })
        #expect(origin.requests("/a").isEmpty)
        configuration.budget.daily = 10_000_000
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        #expect(waitUntil { store.names(in: store.files).contains("a") })
        let waits = try waitRecords(of: tasks[0], in: host.session)
        #expect(waits.map(\.reason) == [.budget])
    }

    @Test("a task that is larger than its budget is listed as held, and stays held after other hosts have listed it")
    func sizeHintSeen() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = budget(daily: 1_000_000)
        let host = try engine.session(configuration)
        var sized = try store.request(origin.url("/a"), "a")
        sized.options.expectedSize = 5_000_000
        var hinted = try store.request(origin.url("/b"), "b")
        hinted.options.expectedBytesReceived = 6_000_000
        let tasks = try host.enqueue(sized, hinted)
        for task in tasks { _ = try host.waits(task, for: .budget) }
        for _ in 0..<20 {
            let other = try store.open()
            defer { other.close() }
            let session = try EngineTests.session(other.attachSession("s", .observe))
            guard case .tasks(let seen, _) = try reply(session.tasks(TaskSelection(), after: .zero, maximum: 9)) else {
                throw Unexpected()
            }
            #expect(seen.map(\.reason) == [.budget, .budget])
            #expect(seen.first?.reasonText?.hasPrefix("the transfer expects 5.0 MB") == true)
        }
        configuration.budget.daily = 2_000_000
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        #expect(waitUntil { (try? host.info(tasks[0]))?.reasonText?.contains("2.0 MB") == true })
        let holds = try host.holds()
        #expect(holds.map(\.tasks) == [2])
        #expect(holds.first?.hold.reason == .budget)
        #expect(holds.first?.hold.sentence.contains("the transfer expects 5.0 MB") == true)
        #expect(waitUntil { engine.conditions.needs.contains(.network) })
        for task in tasks {
            let waits = try waitRecords(of: task, in: host.session)
            #expect(waits.map(\.reason) == [.budget])
            #expect(waits.first?.endedMilliseconds == nil)
        }
        _ = try reply(host.session.control(.cancel, TaskSelection()))
        #expect(try host.holds().isEmpty)
    }

    @Test(
        "the download of a file that is larger than the budget continues with each new budget",
        arguments: [
            nil, UInt64(6_000_000),
        ])
    func largerThanBudget(stated: UInt64?) throws {
        let bytes = pattern(6_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 300_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = budget(daily: stated == nil ? 800_000 : 7_000_000)
        let host = try engine.session(configuration)
        var request = try store.request(origin.url("/a"), "a")
        request.options.expectedSize = stated
        let task = try host.enqueue(request)[0]
        if stated != nil {
            #expect(waitUntil { (try? host.info(task).offset) ?? 0 > 300_000 })
            configuration.budget.daily = 500_000
            _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        }
        let first = try host.waits(task, for: .budget)
        #expect(first.offset > 0 && first.offset < (stated == nil ? 2_000_000 : 5_000_000))
        #expect(first.reasonText?.hasPrefix("the transfer expects") == false)
        // This new budget is also too small for the rest of the download. The same can happen with the budget of a new
        // day.
        configuration.budget.daily = first.offset + 700_000
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        #expect(waitUntil { (try? host.info(task).offset) ?? 0 > first.offset + 300_000 })
        let second = try host.waits(task, for: .budget)
        #expect(second.offset < 6_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        configuration.budget.daily = nil
        _ = try reply(host.session.submit { .updateConfiguration($0, configuration) })
        #expect(try succeeds(host))
        #expect(store.bytes(of: store.files + "/a") == bytes)
    }
}
