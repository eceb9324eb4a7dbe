import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Servers that are too slow", .enabled(if: TestOrigin.address != nil, "an address other than 127.0.0.1 exists"))
struct ThroughputTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
    }

    private func serveSlowly(_ origin: TestOrigin, _ path: String = "/a") {
        origin.serve(path, .init(bytes: pattern(400_000), entityTag: "\"1\"", bytesPerSecond: 10_000))
    }

    /// Enqueues the download of /a.
    private func fetch(_ host: TestSession, from origin: TestOrigin, to name: String = "a") throws -> TaskID {
        try host.enqueue(store.request(origin.url("/a"), name))[0]
    }

    /// The configuration of a session with this minimum rate. After a second below this rate, the tasks for a server
    /// pause for a second.
    private func atLeast(bytesPerSecond: UInt64?) -> SessionConfiguration {
        var configuration = SessionConfiguration.named { $0.minimumBytesPerSecond = bytesPerSecond }
        configuration.slowAfterMilliseconds = 1_000
        configuration.slowPauseMilliseconds = 1_000
        return configuration
    }

    @Test("the tasks for a slow server pause, and then one task tests whether the server is still slow")
    func slow() throws {
        let bytes = pattern(400_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 10_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(atLeast(bytesPerSecond: 50_000))
        let task = try fetch(host, from: origin)
        let info = try host.waits(task, for: .throughput)
        #expect(info.nextAttemptMilliseconds > 0)
        #expect(try host.holds().first?.origin?.contains("\(origin.port)") == true)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\""))
        #expect(ended(try eventsOfRound(host.session)[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/a") == bytes)
    }

    @Test("if a slow probe finds that its server is still slow, the probe stops, and the next pause is longer")
    func stillSlow() throws {
        origin.serve("/a", .init(bytes: pattern(2_000_000), entityTag: "\"1\"", bytesPerSecond: 40_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(atLeast(bytesPerSecond: 200_000))
        let task = try fetch(host, from: origin)
        _ = try host.waits(task, for: .throughput)
        // The task runs once as the slow probe, and then waits again.
        #expect(waitUntil { origin.requests.count == 2 })
        let info = try host.waits(task, for: .throughput)
        #expect(info.state == .waiting)
        #expect(info.nextAttemptMilliseconds - Clock.wallMilliseconds > 1_000)
        #expect(origin.requests.count == 2)
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }

    @Test("if several servers are slow, only one slow probe runs at a time")
    func oneProbe() throws {
        let other = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
        let origins = [origin, other]
        for origin in origins { serveSlowly(origin) }
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(atLeast(bytesPerSecond: 50_000))
        let tasks = [try fetch(host, from: origin), try fetch(host, from: other, to: "b")]
        for task in tasks { _ = try host.waits(task, for: .throughput) }
        #expect(waitUntil { origins.map(\.requests.count).reduce(0, +) > 2 })
        #expect(try tasks.map { try host.info($0).state }.filter { $0 == .running }.count == 1)
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }

    @Test("when all servers in use are too slow, even tasks for new servers are held")
    func unmet() throws {
        let address = TestOrigin.address ?? "127.0.0.1"
        let (second, unmet) = (try TestOrigin(address: address), try TestOrigin(address: address))
        for origin in [origin, second] { serveSlowly(origin) }
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = atLeast(bytesPerSecond: nil)
        configuration.slowPauseMilliseconds = 3_600_000
        let host = try engine.session(configuration)
        func demanding(_ origin: TestOrigin, _ name: String) throws -> TaskID {
            var request = try store.request(origin.url("/a"), name)
            request.options.policy.constraints.minimumBytesPerSecond = 50_000
            return try host.enqueue(request)[0]
        }
        // This transfer continues, so two servers are in use when the engine measures the transfer from `origin`.
        _ = try fetch(host, from: second, to: "b")
        #expect(second.waitForRequest("/a"))
        _ = try host.waits(try demanding(origin, "a"), for: .throughput)
        let info = try host.waits(try demanding(unmet, "c"), for: .throughput)
        #expect(info.reasonText?.contains("all servers together") == true)
        #expect(unmet.requests.isEmpty)
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }

    @Test("tasks without a minimum rate do not prevent the slow probe of their server")
    func othersOfTheLane() throws {
        serveSlowly(origin)
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = atLeast(bytesPerSecond: nil)
        configuration.connectionsPerOrigin = 1
        let host = try engine.session(configuration)
        var slow = try store.request(origin.url("/a"), "a")
        slow.options.policy.constraints.minimumBytesPerSecond = 50_000
        let task = try host.enqueue(slow)[0]
        for number in 0..<12 {
            origin.serve("/\(number)", .init(bytes: pattern(10_000), bytesPerSecond: 20_000))
            _ = try host.enqueue(store.request(origin.url("/\(number)"), "\(number)"))
        }
        _ = try host.waits(task, for: .throughput)
        origin.serve("/a", .init(bytes: pattern(400_000), entityTag: "\"1\""))
        _ = try eventsOfRound(host.session)
        let paths = origin.requests.map(\.path)
        let probed = try #require(paths.lastIndex(of: "/a"))
        #expect(probed > 0 && probed < paths.count - 1)
    }

    @Test("a task with two holds is listed only under the hold that is the task's present reason to wait")
    func listedOnce() throws {
        serveSlowly(origin)
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = atLeast(bytesPerSecond: 50_000)
        configuration.constraints.requiresExternalPower = true
        configuration.slowPauseMilliseconds = 3_600_000
        let host = try engine.session(configuration)
        let task = try fetch(host, from: origin)
        _ = try host.waits(task, for: .throughput)
        engine.setConditions { $0.unplug() }
        _ = try host.waits(task, for: .power)
        let holds = try host.holds()
        #expect(holds.map(\.hold.reason) == [.power])
        #expect(holds.map(\.tasks) == [1])
        _ = try reply(host.session.control(.cancel, TaskSelection()))
    }
}
