import BackhaulClient
import BackhaulEngine
import BackhaulModel
import Testing

@Suite("Servers that are too slow", .enabled(if: TestOrigin.address != nil, "the machine has another address"))
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

    private var impatient: SessionConfiguration {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.slowAfterMilliseconds = 1_000
        configuration.slowPauseMilliseconds = 1_000
        return configuration
    }

    @Test("of several that are too slow one is tried at a time")
    func oneProbe() throws {
        let other = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
        let origins = [origin, other]
        for origin in origins { serveSlowly(origin) }
        let engine = try ToldEngine(store)
        defer { engine.stop() }
        var configuration = impatient
        configuration.constraints.minimumBytesPerSecond = 50_000
        let host = try engine.session(configuration)
        let tasks = try host.enqueue(
            store.request(origin.url("/a"), "a"), store.request(other.url("/a"), "b"))
        for task in tasks { _ = try host.waits(task, for: .throughput) }
        #expect(waitUntil { origins.map(\.asked.count).reduce(0, +) > 2 })
        #expect(try tasks.map { try host.info($0).state }.filter { $0 == .running }.count == 1)
        _ = try answer(host.session.control(.cancel, TaskSelection()))
    }

    @Test("where all together are too slow, servers that nobody has met wait, too")
    func unmet() throws {
        let others = try (0..<2).map { _ in try TestOrigin(address: TestOrigin.address ?? "127.0.0.1") }
        for origin in [origin, others[0]] { serveSlowly(origin) }
        let engine = try ToldEngine(store)
        defer { engine.stop() }
        var configuration = impatient
        configuration.constraints.minimumBytesPerSecond = 50_000
        configuration.slowPauseMilliseconds = 3_600_000
        let host = try engine.session(configuration)
        let tasks = try host.enqueue(
            store.request(origin.url("/a"), "a"), store.request(others[0].url("/a"), "b"))
        for task in tasks { _ = try host.waits(task, for: .throughput) }
        let third = try host.enqueue(store.request(others[1].url("/a"), "c"))[0]
        let info = try host.waits(third, for: .throughput)
        #expect(info.reasonText?.contains("all servers together") == true)
        #expect(others[1].asked.isEmpty)
        _ = try answer(host.session.control(.cancel, TaskSelection()))
    }

    @Test("tasks of the same server that ask for nothing do not keep the probe away")
    func othersOfTheLane() throws {
        serveSlowly(origin)
        let engine = try ToldEngine(store)
        defer { engine.stop() }
        var configuration = impatient
        configuration.connectionsPerOrigin = 1
        let host = try engine.session(configuration)
        var slow = try store.request(origin.url("/a"), "a")
        slow.options.policy.constraints.minimumBytesPerSecond = 50_000
        let task = try host.enqueue(slow)[0]
        for number in 0..<20 {
            origin.serve("/\(number)", .init(bytes: pattern(10_000), bytesPerSecond: 20_000))
            _ = try host.enqueue(store.request(origin.url("/\(number)"), "\(number)"))
        }
        _ = try host.waits(task, for: .throughput)
        origin.serve("/a", .init(bytes: pattern(400_000), entityTag: "\"1\""))
        _ = try eventsOfRound(host.session)
        let paths = origin.asked.map(\.path)
        let probed = try #require(paths.lastIndex(of: "/a"))
        #expect(probed > 0 && probed < paths.count - 1)
    }

    @Test("what is held for two reasons is listed once, by the reason that it says itself")
    func listedOnce() throws {
        serveSlowly(origin)
        let engine = try ToldEngine(store)
        defer { engine.stop() }
        var configuration = impatient
        configuration.constraints.minimumBytesPerSecond = 50_000
        configuration.constraints.requiresExternalPower = true
        configuration.slowPauseMilliseconds = 3_600_000
        let host = try engine.session(configuration)
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        _ = try host.waits(task, for: .throughput)
        engine.tell { $0.unplug() }
        _ = try host.waits(task, for: .power)
        let holds = try host.holds()
        #expect(holds.map(\.hold.reason) == [.power])
        #expect(holds.map(\.tasks) == [1])
        _ = try answer(host.session.control(.cancel, TaskSelection()))
    }
}
