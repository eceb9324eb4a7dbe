import BackhaulModel
import Testing

@testable import BackhaulFleet

@Suite("The id of a worker")
struct IdentityTests {
    private let scratch = Scratch()

    @Test("a restarted worker has the same id")
    func restart() throws {
        let first = try WorkerIdentity(directory: scratch.path, fleet: "fleet").id
        #expect(try WorkerIdentity(directory: scratch.path, fleet: "fleet").id == first)
    }

    @Test("while a worker runs, no other one has its directory")
    func lock() throws {
        let first = try WorkerIdentity(directory: scratch.path, fleet: "fleet")
        let error = #expect(throws: FleetError.self) { try WorkerIdentity(directory: scratch.path, fleet: "fleet") }
        #expect(error?.failure.status == .inUse)
        withExtendedLifetime(first) {}
    }

    @Test("a worker does not continue the transfers of another fleet")
    func otherFleet() throws {
        _ = try WorkerIdentity(directory: scratch.path, fleet: "fleet")
        let error = #expect(throws: FleetError.self) { try WorkerIdentity(directory: scratch.path, fleet: "other") }
        #expect(error?.failure.message.contains("another fleet") == true)
    }

    @Test("each database is a fleet of its own")
    func fleets() throws {
        #expect(try Schema.fleet(TestDatabase().database) != Schema.fleet(TestDatabase().database))
    }
}
