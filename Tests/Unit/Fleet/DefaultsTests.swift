import BackhaulModel
import Testing

@testable import BackhaulFleet

@Suite("A database whose parameters have other defaults")
struct DefaultsTests {
    private let fleet: TestDatabase

    init() throws { fleet = try TestDatabase() }

    @Test("bytes are read in both forms", arguments: ["hex", "escape"])
    func bytes(form: String) throws {
        try fleet.setDefault("bytea_output = \(form)")
        let database = try DatabaseConnection(fleet.address)
        for bytes in [Array(0...255), [], Array("\\x61".utf8), Array("\\\\".utf8)] as [[UInt8]] {
            let row = try #require(try database.run("SELECT $1::bytea", [.bytes(bytes)]).first)
            #expect(try row.bytes(0) == bytes)
        }
    }

    @Test("bytes in another form are an error", arguments: ["\\x6", "\\x6g", "\\9", "\\"])
    func unknownForm(text: String) throws {
        let row = try #require(try fleet.database.run("SELECT $1::text", [.text(text)]).first)
        let failure = #expect(throws: Failure.self) { try row.bytes(0) }
        #expect(failure?.status == .storeDamaged)
    }

    @Test("a transaction sees what others have committed since it began")
    func isolation() throws {
        try fleet.setDefault("default_transaction_isolation = 'repeatable read'")
        let database = try DatabaseConnection(fleet.address)
        let levels = try database.transaction { () throws(FleetError) in
            try database.run("SHOW transaction_isolation").map { $0.text(0) }
        }
        #expect(levels == ["read committed"])
    }

    @Test("a commit is on the disk of the server when it returns", arguments: ["off", "local", "remote_write", "on"])
    func commits(setting: String) throws {
        try fleet.setDefault("synchronous_commit = \(setting)")
        let database = try DatabaseConnection(fleet.address)
        for _ in 0..<2 {
            let used = try database.transaction { () throws(FleetError) in
                try database.run("SHOW synchronous_commit").map { $0.text(0) }
            }
            #expect(used == [setting == "off" ? "local" : setting])
        }
        #expect(try database.run("SHOW synchronous_commit").map { $0.text(0) } == [setting])
    }

    @Test("hosts and workers do their work")
    func work() throws {
        try fleet.setDefault("bytea_output = escape")
        try fleet.setDefault("default_transaction_isolation = serializable")
        let session = try fleet.session()
        var request = fleet.request("file")
        request.userData = Array(0...255)
        try fleet.enqueue([request], in: session)
        let database = try DatabaseConnection(fleet.address)
        let worker = WorkerQueue(database, worker: "worker")
        _ = try worker.renew(name: "worker", leaseMilliseconds: 60_000)
        let task = try #require(try worker.claim().first)
        #expect(task.request.userData == request.userData)
        #expect(try worker.end(task.run, .succeeded))
        let hosts = HostQueue(database: database)
        #expect(try hosts.tasks(TaskSelection(), after: .zero, maximum: 10, of: session).tasks.count == 1)
        #expect(try hosts.poll(session, after: .zero, maximum: 10).events.count == 2)
    }
}
