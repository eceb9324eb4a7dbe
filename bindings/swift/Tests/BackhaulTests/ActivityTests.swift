import Backhaul
import HostTestSupport
import Testing

/// Either the activity has a request, or the program gets an event and does the work.
@Suite("Networks and activities", .timeLimit(.minutes(10)))
struct ActivityTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("the settings of a network are stored until the program removes all of them")
    func said() async throws {
        let application = try await open()
        var network = Network("Hotspot")
        network.isMetered = true
        network.monthStartsOn = 20
        network.budget = Budget(daily: 5, monthly: 0)
        try await application.setNetwork(network)
        let found = try #require(try await application.networks().first { $0.name == "Hotspot" })
        #expect(found.isMetered == true && found.monthStartsOn == 20)
        #expect(found.budget == network.budget && found.usedToday == 0)
        try await application.setNetwork(Network("Hotspot"))
        #expect(try await !application.networks().contains { $0.name == "Hotspot" })
        await application.close()
    }

    @Test("activities can be listed and removed; an activity without a request delivers an event")
    func activities() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var sync = Activity("sync", every: .seconds(3600), request: Request(url: server.url("sync")))
        sync.tolerance = .seconds(60)
        sync.firstMilliseconds = 4_000_000_000_000
        try await session.setActivity(sync)
        let found = try #require(try await session.activities().first)
        #expect(found.identifier == "sync" && found.interval == .seconds(3600) && found.tolerance == .seconds(60))
        #expect(found.nextMilliseconds == 4_000_000_000_000 && found.nextEndsMilliseconds == 4_000_000_060_000)
        #expect(found.url == server.url("sync") && found.repeats && found.qualityOfService == .background)
        try await session.removeActivity("sync")
        #expect(try await session.activities().isEmpty)

        var feed = Activity("feed", every: .seconds(1))
        feed.repeats = false
        feed.qualityOfService = .userInitiated
        try await session.setActivity(feed)
        for try await event in session.events {
            guard case .activity(let due) = event else {
                Issue.record("\(event)")
                break
            }
            #expect(due.activity == "feed")
            try await session.acknowledge(event)
            break
        }
        await application.close()
    }
}
