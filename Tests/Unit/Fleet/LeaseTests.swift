import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulFleet

@Suite("The leases and the fence of a fleet")
struct LeaseTests {
    private let fleet: TestDatabase
    private let session: SessionID

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
    }

    @Test("each claim of a task is a run of its own")
    func runs() throws {
        let first = try fleet.worker("first", leaseMilliseconds: 0)
        let old = try fleet.claimedTask(by: first, in: session)
        #expect(old.run.run == 1)
        let second = try fleet.worker("second")
        try second.releaseExpired()
        let new = try #require(try second.claim().first)
        #expect(new.run == TaskRun(task: old.run.task, run: 2))
        #expect(new.request == old.request)
    }

    @Test("a write of an old run has no effect")
    func oldRun() throws {
        let zombie = try fleet.worker("zombie", leaseMilliseconds: 0)
        let old = try fleet.claimedTask(by: zombie, in: session)
        let second = try fleet.worker("second")
        try second.releaseExpired()
        // The task is in the queue again: the zombie has no task, although its run is the newest one.
        #expect(try !zombie.publish(old.run, .succeeded, inode: 1))
        #expect(try !zombie.end(old.run, .succeeded))
        let new = try #require(try second.claim().first)
        #expect(try !zombie.publish(old.run, .succeeded, inode: 1))
        #expect(try !zombie.end(old.run, .succeeded))
        try zombie.putBack(old.run)
        #expect(try zombie.ownTasks().isEmpty)
        #expect(try fleet.state(of: old.run.task) == .running)
        #expect(try second.publish(new.run, .succeeded, inode: 1))
        #expect(try second.end(new.run, .succeeded))
        #expect(try fleet.ends(of: session) == [old.run.task: [.succeeded]])
    }

    @Test("another worker cannot write with the run of a worker")
    func foreignRun() throws {
        let first = try fleet.worker("first")
        let second = try fleet.worker("second")
        let task = try fleet.claimedTask(by: first, in: session)
        #expect(try !second.publish(task.run, .succeeded, inode: 1))
        #expect(try !second.end(task.run, .succeeded))
        #expect(try fleet.state(of: task.run.task) == .running)
    }

    @Test("if a worker reports an old run together with new ones, only the old one has no effect")
    func severalEnds() throws {
        let worker = try fleet.worker("worker")
        try fleet.enqueue(["one", "two", "three"].map { fleet.request($0) }, in: session)
        let claimed = try worker.claim().map(\.run)
        #expect(claimed.count == 3)
        try worker.putBack(claimed[1])
        let current: Set = [claimed[0], claimed[2]]
        #expect(try worker.publish(claimed.map { DecidedEnd(RunEnd($0, .succeeded), inode: 1) }) == current)
        #expect(try worker.end(claimed.map { RunEnd($0, .succeeded) }) == current)
        #expect(try fleet.state(of: claimed[1].task) == .queued)
        #expect(try fleet.ends(of: session) == [claimed[0].task: [.succeeded], claimed[2].task: [.succeeded]])
    }

    @Test("a repeated end has no effect, and makes no second event")
    func repeatedEnd() throws {
        let worker = try fleet.worker("worker")
        let task = try fleet.claimedTask(by: worker, in: session)
        #expect(try worker.end(task.run, .succeeded))
        #expect(try !worker.end(task.run, .succeeded))
        #expect(try fleet.ends(of: session) == [task.run.task: [.succeeded]])
    }

    @Test("a worker that renews its lease keeps its tasks")
    func renewal() throws {
        let first = try fleet.worker("first")
        let task = try fleet.claimedTask(by: first, in: session)
        let second = try fleet.worker("second")
        try second.releaseExpired()
        #expect(try second.claim().isEmpty)
        #expect(try first.ownTasks().map(\.run) == [task.run])
        #expect(try first.end(task.run, .succeeded))
    }

    @Test("a task whose end is decided does not run again: another worker takes its end over")
    func takeOver() throws {
        let first = try fleet.worker("first", leaseMilliseconds: 0)
        let task = try fleet.claimedTask(by: first, in: session)
        #expect(try first.publish(task.run, .succeeded, inode: 7))
        let second = try fleet.worker("second")
        try second.releaseExpired()
        #expect(try second.claim().isEmpty)
        let taken = try #require(try second.takeOver().first)
        #expect(taken.run == TaskRun(task: task.run.task, run: 2))
        #expect(taken.firstRun == 1)
        #expect(taken.inode == 7)
        #expect(taken.outcome == .succeeded)
        #expect(try !first.end(task.run, .succeeded))
        #expect(try second.end(taken.run, taken.outcome))
        #expect(try fleet.ends(of: session) == [task.run.task: [.succeeded]])
    }

    @Test("a cancelled task of a lost worker ends as cancelled")
    func cancelledTask() throws {
        let first = try fleet.worker("first", leaseMilliseconds: 0)
        let task = try fleet.claimedTask(by: first, in: session)
        #expect(try fleet.hosts.control(.cancel, TaskSelection(), of: session) == 1)
        try fleet.worker("second").releaseExpired()
        #expect(try fleet.ends(of: session) == [task.run.task: [.cancelled]])
    }

    @Test(
        "a cancel before or after a suspend is not lost when the worker puts the task back",
        arguments: [[TaskControl.suspend, .cancel], [.cancel, .suspend]])
    func cancelAndSuspend(controls: [TaskControl]) throws {
        let worker = try fleet.worker("worker")
        let task = try fleet.claimedTask(by: worker, in: session)
        for control in controls {
            #expect(try fleet.hosts.control(control, TaskSelection(), of: session) == 1)
        }
        try worker.putBack(task.run)
        #expect(try fleet.ends(of: session) == [task.run.task: [.cancelled]])
    }

    @Test("a worker that has no room for more tasks claims none, and leases no further connections")
    func room() throws {
        let worker = try fleet.worker("worker")
        try fleet.enqueue((0..<6).map { fleet.request("\($0)") }, in: session)
        let origin = try #require(try worker.origins(after: 0, running: [:]).first).origin
        #expect(try worker.claim(from: origin, running: 0, room: 2).count == 2)
        #expect(try worker.claim(from: origin, running: 2, room: 0).isEmpty)
        let permits = try fleet.database.run("SELECT connections FROM backhaul.permits")
        #expect(permits.map { $0.integer(0) } == [2])
    }

    @Test("another worker gets the inode of a file, however great it is")
    func greatInode() throws {
        let lost = try fleet.worker("lost", leaseMilliseconds: 0)
        let task = try fleet.claimedTask(by: lost, in: session)
        #expect(try lost.publish(task.run, .succeeded, inode: .max))
        #expect(try fleet.worker("other").takeOver().map(\.inode) == [.max])
    }

    @Test("a cancel reaches a task that a worker claims at the same moment")
    func cancelDuringClaim() throws {
        let worker = try fleet.worker("worker")
        let task = try fleet.enqueue([fleet.request("file")], in: session)[0].task
        let (address, session) = (fleet.address, session)
        // The claim, whose transaction is still open.
        try fleet.database.run("BEGIN")
        try fleet.database.run("UPDATE backhaul.live SET state = 3, run = 1, worker = 'worker', claimed_at = now()")
        let host = try Thread(name: "fleet-host") {
            guard let database = try? DatabaseConnection(address) else { return }
            _ = try? HostQueue(database: database).control(.cancel, TaskSelection(), of: session)
        }
        let waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        while try DatabaseConnection(address).run(waits).isEmpty { usleep(1_000) }
        try fleet.database.run("COMMIT")
        host.join()
        #expect(try worker.wantedControls().map(\.task) == [task])
    }

    @Test("the worker's end of its lease is never later than the database's")
    func leaseClock() {
        var clock = LeaseClock(leaseMilliseconds: 30_000)
        #expect(clock.isDue(at: 0))
        #expect(!clock.mayPublish(at: 0))
        clock.renewed(sentAt: 1_000)
        #expect(!clock.isDue(at: 10_999))
        #expect(clock.isDue(at: 11_000))
        #expect(clock.mayPublish(at: 24_999))
        #expect(!clock.mayPublish(at: 25_000))
    }

    @Test(
        "all workers together ask the database as often as some hundred workers",
        arguments: [
            (1, 30_000, 200), (100, 30_000, 200), (700, 30_000, 1_400), (10_000, 30_000, 2_000), (10_000, 3_000, 500),
        ] as [(Int64, Int64, Int64)])
    func wait(_ workers: Int64, _ lease: Int64, _ expected: Int64) {
        #expect(LeaseClock(leaseMilliseconds: lease).waitMilliseconds(workers: workers) == expected)
    }

    @Test(
        "each time a worker cannot start a task, it waits twice as long for the next claim, up to 10 minutes",
        arguments: [(1, 10_000), (2, 20_000), (6, 320_000), (7, 600_000), (1_000, 600_000)] as [(Int, Int64)])
    func claimPause(_ failures: Int, _ expected: Int64) {
        #expect(ClaimPause.milliseconds(failures: failures, leaseMilliseconds: 30_000) == expected)
    }

    @Test("the number of workers counts those whose leases hold")
    func countedWorkers() throws {
        _ = try fleet.worker("lost", leaseMilliseconds: 0)
        _ = try fleet.worker("first")
        let second = WorkerQueue(fleet.database, worker: "second")
        #expect(try second.renew(name: "second", leaseMilliseconds: 60_000).workers == 1)
        #expect(try second.renew(name: "second", leaseMilliseconds: 60_000).workers == 2)
    }

    @Test("all workers together have at most the permitted connections to an origin")
    func permits() throws {
        try fleet.enqueue((0..<60).map { fleet.request("file\($0)") }, in: session)
        let workers = try (0..<4).map { try fleet.worker("worker\($0)") }
        var running = [Set<TaskRun>](repeating: [], count: workers.count)
        var random = SystemRandomNumberGenerator()
        var ended = 0
        while ended < 60 {
            let index = Int.random(in: workers.indices, using: &random)
            let (worker, own) = (workers[index], running[index])
            let claimed = try worker.claim(running: [1: Int64(own.count)])
            running[index].formUnion(claimed.map(\.run))
            #expect(running.reduce(0) { $0 + $1.count } <= 6)
            if let run = running[index].randomElement(using: &random) {
                #expect(try worker.end(run, .succeeded))
                running[index].remove(run)
                ended += 1
            }
            let count = running[index].count
            try worker.releasePermits(running: count == 0 ? [:] : [1: Int64(count)])
        }
        #expect(try fleet.ends(of: session).values.allSatisfy { $0 == [.succeeded] })
    }

    @Test("a lost worker's connections are free when its lease has ended")
    func permitsOfLostWorker() throws {
        try fleet.enqueue((0..<20).map { fleet.request("file\($0)") }, in: session)
        let first = try fleet.worker("first")
        #expect(try first.claim().count == 6)
        let second = try fleet.worker("second")
        #expect(try second.claim().isEmpty)
        _ = try first.renew(name: "first", leaseMilliseconds: 0)
        try second.releaseExpired()
        #expect(try second.claim().count == 6)
    }
}
