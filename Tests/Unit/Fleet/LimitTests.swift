import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulFleet

@Suite("The limits of an origin for all workers together")
struct LimitTests {
    private let fleet: TestDatabase
    private let administration: FleetAdministration
    private let workers: [WorkerQueue]

    init() throws {
        fleet = try TestDatabase()
        administration = try FleetAdministration(fleet.address)
        workers = [try fleet.worker("first"), try fleet.worker("second")]
        try fleet.enqueue((0..<100).map { fleet.request("file\($0)") }, in: try fleet.session())
    }

    private var origin: FleetAdministration.OriginInfo {
        get throws { try #require(try administration.origins().first) }
    }

    @Test("if a server has asked for a pause, no worker starts a task there")
    func pause() throws {
        try OriginLimits(database: fleet.database, origin: 1).pause(milliseconds: 3_600_000)
        for worker in workers { #expect(try worker.claim().isEmpty) }
        #expect(try (3_500_000...3_600_000).contains(origin.pauseMilliseconds))
        // A shorter pause does not end it.
        try OriginLimits(database: fleet.database, origin: 1).pause(milliseconds: 1_000)
        #expect(try (3_500_000...3_600_000).contains(origin.pauseMilliseconds))
        try fleet.enqueue([fleet.request("other", server: "other.example")], in: try fleet.session("others"))
        #expect(try workers[0].claim().count == 1)
    }

    @Test("after a pause, the origin starts slowly", arguments: [(0.1, 1), (1.1, 2), (60, 6)])
    func slowStart(seconds: Double, count: Int) throws {
        try fleet.database.run(
            "UPDATE backhaul.origins SET paused_until = clock_timestamp() - \(seconds) * interval '1 second'")
        let first = try workers[0].claim().count
        let second = try workers[1].claim().count
        // On a busy machine, the claims come later, and may have one more connection for each further second.
        let passed = try fleet.database.run(
            "SELECT floor(extract(epoch FROM clock_timestamp() - paused_until))::bigint FROM backhaul.origins")
        let most = min(6, 1 + Int(try #require(passed.first).integer(0)))
        #expect((count...most).contains(first + second))
    }

    @Test("all workers together start at most the permitted number of tasks")
    func rate() throws {
        try administration.limit(originOf: "https://example.org/", connections: 100, startsPerMinute: 1_200)
        #expect(try origin.startsPerMinute == 1_200)
        let start = Clock.bootMilliseconds
        var (count, running) = (0, [0, 0])
        while Clock.bootMilliseconds - start < 1_000 {
            for (index, worker) in workers.enumerated() {
                let claimed = try worker.claim(running: [1: Int64(running[index])]).count
                running[index] += claimed
                count += claimed
            }
        }
        // 20 tasks a second, and those of a quarter of a second at the beginning.
        let permitted = Double(Clock.bootMilliseconds - start) / 50 + 5
        #expect(Double(count) <= permitted)
        #expect(count >= 15)
        try administration.limit(originOf: "https://example.org", connections: nil, startsPerMinute: 0)
        #expect(try origin.startsPerMinute == nil)
        #expect(try origin.connections == 100)
        #expect(try workers[0].claim(running: [1: Int64(running[0])]).isEmpty == false)
    }
}
