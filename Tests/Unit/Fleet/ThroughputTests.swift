import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulFleet

/// The environment variable BACKHAUL_FLEET_TASKS sets the number of tasks. Then the database syncs its log, and the
/// test prints the ends per second, the dead rows and the size of the database each minute, and at the end the
/// processor time of the client. 20,000,000 tasks need 15 GB. To measure with an optimized client:
///
///     swift build -c release -Xswiftc -enable-testing --build-tests --scratch-path build/swift/release-tests
///     BACKHAUL_FLEET_TASKS=100000 build/swift/release-tests/release/BackhaulPackageTests.xctest \
///         --testing-library swift-testing --filter "^FleetTests.ThroughputTests"
@Suite("A host and eight workers at one database")
struct ThroughputTests {
    private static let given = getenv("BACKHAUL_FLEET_TASKS").flatMap { Int(String(cString: $0)) }
    private static let count = given ?? 2_000
    private static let origins = 8
    private static let downloadMicroseconds: UInt32 = 50_000
    /// The host enqueues no more tasks before their ends.
    private static let backlog = 20_000

    private struct Progress {
        var ended = 0
        var failure: FleetError?
        var isOver: Bool { ended == ThroughputTests.count || failure != nil }
    }

    private let fleet: TestDatabase
    private let session: SessionID
    private let progress = Lock(Progress())

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        let administration = try FleetAdministration(fleet.address)
        for origin in 0..<Self.origins {
            try administration.limit(
                originOf: "https://server\(origin).example", connections: 800, startsPerMinute: nil)
        }
    }

    /// Starts a thread with a connection of its own.
    private func start(_ body: @escaping @Sendable (DatabaseConnection) throws(FleetError) -> Void) throws -> Thread {
        let address = fleet.address
        return try Thread(name: "fleet-test") { [progress] in
            do throws(FleetError) {
                try body(try DatabaseConnection(address))
            } catch {
                progress.change { $0.failure = error }
            }
        }
    }

    /// The downloads of the worker transfer nothing. It claims, publishes and ends as `Worker` does in one step.
    private static func work(_ worker: WorkerQueue, _ progress: Lock<Progress>) throws(FleetError) {
        _ = try worker.renew(name: worker.worker, leaseMilliseconds: 3_600_000)
        while !progress.withLock({ $0.isOver }) {
            var runs: [TaskRun] = []
            for (origin, isOpen) in try worker.origins(after: 0, running: [:]) where isOpen {
                runs += try worker.claim(from: origin, running: 0, room: .max).map(\.run)
            }
            usleep(downloadMicroseconds)
            guard !runs.isEmpty else { continue }
            let ends = runs.map { RunEnd($0, .succeeded) }
            let decided = try worker.publish(ends.map { DecidedEnd($0, inode: 1) })
            guard decided == Set(runs), try worker.end(ends) == decided else {
                throw FleetError(.internal, "a run of a live worker is old")
            }
        }
    }

    private static func enqueueAll(
        _ enqueue: Enqueue, directory: String, _ progress: Lock<Progress>
    ) throws(FleetError) {
        let chunk = 2_000
        for first in stride(from: 0, to: count, by: chunk) {
            while progress.withLock({ !$0.isOver && first - $0.ended >= backlog }) { usleep(1_000) }
            let requests = try (first..<min(first + chunk, count)).map { number throws(FleetError) in
                let request = TestDatabase.request(
                    "file\(number)", server: "server\(number % origins).example", directory: directory)
                do throws(Failure) {
                    return try FleetRequest(request, in: SessionConfiguration(identifier: "files"))
                } catch {
                    throw FleetError(error)
                }
            }
            let command = CommandID(client: ClientID(high: 1, low: 1), sequence: UInt64(first + 1))
            _ = try enqueue.run(requests, command, repliedThrough: UInt64(first))
        }
    }

    /// Reads and acknowledges all events. Returns how often each task has ended.
    private func readEnds() throws -> [TaskID: Int] {
        var ends: [TaskID: Int] = [:]
        var newest = EventID.zero
        var measurement = Measurement(database: fleet.database)
        while !progress.withLock({ $0.isOver }) {
            let events = try fleet.hosts.poll(session, after: newest, maximum: 1_000).events
            for case .taskEnded(let task) in events.map(\.kind) { ends[task.id, default: 0] += 1 }
            if Self.given != nil { try measurement.printEachMinute(ends.count) }
            guard let last = events.last?.id else {
                usleep(1_000)
                continue
            }
            newest = last
            _ = try fleet.hosts.acknowledge(.through(last), of: session)
            progress.change { $0.ended = ends.count }
        }
        return ends
    }

    private struct Measurement {
        let database: DatabaseConnection
        private var ended = 0
        private var start = Clock.bootMilliseconds

        init(database: DatabaseConnection) { self.database = database }

        mutating func printEachMinute(_ ends: Int) throws(FleetError) {
            let now = Clock.bootMilliseconds
            guard now - start >= 60_000 else { return }
            let rows = try database.run(
                """
                SELECT coalesce(sum(n_dead_tup), 0)::bigint, pg_database_size(current_database()) >> 20
                FROM pg_stat_user_tables WHERE schemaname = 'backhaul'
                """)
            print(
                "\(Int64(ends - ended) * 1_000 / (now - start)) ends per second,",
                "\(rows.first?.integer(0) ?? 0) dead rows, \(rows.first?.integer(1) ?? 0) MiB")
            fflush(nil)
            (ended, start) = (ends, now)
        }
    }

    @Test("each task ends one time, and the host reads each end one time")
    func ends() throws {
        let start = Clock.bootMilliseconds
        var threads = try (0..<8).map { number in
            try self.start { [progress] database throws(FleetError) in
                try Self.work(WorkerQueue(database, worker: "worker\(number)"), progress)
            }
        }
        threads.append(
            try self.start { [session, progress, directory = fleet.destinations.path] database throws(FleetError) in
                try Self.enqueueAll(
                    Enqueue(database: database, session: session), directory: directory, progress)
            })
        let ends = try readEnds()
        for thread in threads { thread.join() }
        #expect(progress.withLock { $0.failure?.failure.message } == nil)
        #expect(ends.count == Self.count && ends.values.allSatisfy { $0 == 1 })
        guard Self.given != nil else { return }
        let seconds = Double(Clock.bootMilliseconds - start) / 1_000
        print(
            "\(Int(Double(ends.count) / seconds)) ends per second,",
            "\(Int(Double(clock()) / Double(ends.count))) us of the client for each")
    }
}
