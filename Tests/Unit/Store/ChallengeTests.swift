import BackhaulModel
import Testing

@testable import BackhaulStore

extension AuthenticationChallenge {
    static func example(
        realm: String? = "staff", _ schemes: String = "Basic realm=\"staff\""
    ) -> AuthenticationChallenge {
        var authChallenge = AuthenticationChallenge(
            ResponseHead(
                status: 401, finalURL: "https://example.org/files/1", isMultiplexed: false,
                fields: [ResponseField("WWW-Authenticate", schemes)], origin: "https://example.org:443"))
        authChallenge?.space.realm = realm
        return authChallenge ?? example(realm: realm)
    }
}

@Suite("Tasks that wait for a credential")
struct ChallengeTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }
    private static let record = AttemptRecord(attempts: 1, attemptsWithoutProgress: 0, bytesReceived: 5)

    @discardableResult
    private func park(
        _ store: TestStore, _ task: TaskID, realm: String? = "staff", failures: UInt32 = 0,
        replacing: ChallengeID? = nil
    ) throws -> ParkedTask? {
        try parking(store, task, realm: realm, failures: failures, replacing: replacing).parked
    }

    private func parking(
        _ store: TestStore, _ task: TaskID, realm: String? = "staff", failures: UInt32 = 0,
        known: ChallengeID? = nil, replacing: ChallengeID? = nil
    ) throws -> Parking {
        try store.run {
            try $0.challenges.park(
                task, Self.record, for: .example(realm: realm), failures: failures, known: known, replacing: replacing,
                bootMilliseconds: 10, now: 2_500)
        }
    }

    private func challenges(_ store: TestStore, _ session: SessionID) throws -> [Challenge] {
        try store.run { try $0.challenges.all(of: session) }
    }

    private func waiting(_ store: TestStore) throws -> [TaskID] {
        try store.run { transaction in
            var tasks: [TaskID] = []
            for lane in try transaction.lanes.ready() {
                tasks += try transaction.lanes.waitingTasks(of: lane.id, limit: 100).map(\.id)
            }
            return tasks
        }
    }

    @Test("tasks that wait for the same realm share one challenge and one event, and these tasks are not ready")
    func shared() throws {
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        let first = try #require(try park(store, ids[0]))
        #expect(first.isNew)
        // The task was enqueued at 2,000 ms, and its deadline is seven days later. It is 2,500 ms now, and the boot
        // clock shows 10 ms.
        #expect(first.nextDue == Int64(604_799_510))
        #expect(try park(store, ids[1])?.isNew == false)
        #expect(try park(store, ids[2], realm: nil)?.isNew == true)
        let open = try challenges(store, session)
        #expect(open.map(\.waitingTasks) == [2, 1])
        #expect(open.map(\.space.realm) == ["staff", nil])
        #expect(open[0].schemes == .basic)
        #expect(try store.events(of: session).map(\.kind) == open.map { .challenge($0) })
        #expect(try store.info(session)?.events == 2)
        #expect(try store.info(session)?.openChallenges == 2)
        #expect(try store.info(session)?.newestEvent == store.events(of: session).last?.id)
        #expect(try waiting(store) == [ids[3]])
        let info = try store.tasks(of: session)[0]
        #expect(info.reason == .credential)
        #expect(info.reasonText == open[0].space.sentence)
        #expect(info.nextAttemptMilliseconds == 0)
    }

    @Test("a session whose only open matter is a challenge needs attention until the host responds")
    func attention() throws {
        let ids = try store.enqueue([.numbered(1)], in: session)
        try park(store, ids[0])
        let newest = try store.events(of: session)[0].id
        try store.acknowledge(session, .through(newest))
        func needing() throws -> [EventID] {
            try store.run { try $0.sessions.needingAttention(application: "org.example") }.map(\.newestEvent)
        }
        #expect(try needing() == [newest])
        let open = try challenges(store, session)[0]
        _ = try store.run { try $0.challenges.releaseTasks(of: open, in: session) }
        #expect(try needing().isEmpty)
    }

    @Test("when the host responds to a challenge, the challenge's event is removed, and its waiting tasks become ready")
    func answered() throws {
        let ids = try store.enqueue((0..<2).map { .numbered($0) }, in: session)
        for id in ids { try park(store, id) }
        let open = try challenges(store, session)[0]
        let change = try store.run { try $0.challenges.releaseTasks(of: open, in: session) }
        #expect(change.lanes.count == 1)
        #expect(try waiting(store) == ids)
        #expect(try store.events(of: session).isEmpty)
        #expect(try store.info(session)?.events == 0)
        let failure = #expect(throws: Failure.self) {
            try store.run { try $0.challenges.openChallenge(open.id, of: session) }
        }
        #expect(failure?.status == .notFound)
    }

    @Test("a task does not reopen a challenge to which the host has already responded")
    func answeredMeanwhile() throws {
        let ids = try store.enqueue((0..<2).map { .numbered($0) }, in: session)
        try park(store, ids[0])
        let open = try challenges(store, session)[0]
        #expect(try parking(store, ids[1], known: open.id).parked?.challenge == open.id)
        try store.run { _ = try $0.challenges.releaseTasks(of: open, in: session) }
        #expect(try parking(store, ids[1], known: open.id) == .superseded(open.id))
        #expect(try challenges(store, session).isEmpty)
        #expect(try store.events(of: session).isEmpty)
        #expect(try waiting(store) == ids)
    }

    @Test("if the server rejects the credential, all tasks that waited for this credential wait again")
    func reopened() throws {
        let ids = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
        for id in ids { try park(store, id) }
        let open = try challenges(store, session)[0]
        try store.run { _ = try $0.challenges.releaseTasks(of: open, in: session) }
        let again = try #require(try park(store, ids[0], failures: 1, replacing: open.id))
        #expect(again.isNew)
        #expect(again.challenge > open.id)
        #expect(again.change.lanes.count == 1)
        let reopened = try challenges(store, session)
        #expect(reopened.map(\.failures) == [1])
        #expect(reopened.map(\.waitingTasks) == [3])
        #expect(try waiting(store).isEmpty)
    }

    @Test("a task whose damaged row has the greatest possible times can wait for a credential")
    func absurdTimes() throws {
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        try store.run { transaction in
            try transaction.connection.run(Query("UPDATE tasks SET enqueued_ms = \(Int64.max), suspended_ms = 1"))
        }
        try park(store, id)
        #expect(try store.tasks(of: session).map(\.reason) == [.credential])
    }

    @Test("a task with a finish intent, whose file is complete, neither waits for a credential nor fails without one")
    func ending() throws {
        let ids = try store.enqueue((0..<2).map { .numbered($0) }, in: session)
        for id in ids { try park(store, id) }
        let open = try challenges(store, session)[0]
        try store.run { transaction in
            _ = try transaction.challenges.releaseTasks(of: open, in: session)
            _ = try transaction.attempts.recordIntent(ids[1], FinishIntent(device: 1, inode: 2, size: 3))
        }
        try park(store, ids[0], failures: 1, replacing: open.id)
        let again = try challenges(store, session)[0]
        #expect(again.waitingTasks == 1)
        let change = try store.run { try $0.endings.failTasks(of: again, in: session, now: 4_000) }
        #expect(change.tasks == [ids[0]])
        #expect(try store.tasks(of: session).map(\.reason) == [.none, .disk])
    }

    @Test("if the host refuses a challenge, all tasks that wait for it fail, and the round ends")
    func refused() throws {
        let ids = try store.enqueue((0..<2).map { .numbered($0) }, in: session)
        for id in ids { try park(store, id) }
        let open = try challenges(store, session)[0]
        let change = try store.run { try $0.endings.failTasks(of: open, in: session, now: 4_000) }
        #expect(change.tasks == ids)
        let events = try store.events(of: session)
        #expect(events.count == 3)
        #expect(events[0].task?.outcome.failure == open.space.failure)
        #expect(events[2].kind == .sessionFinished)
        #expect(change.newestEvent == events[2].id)
        #expect(try store.info(session)?.events == 3)
        #expect(try store.info(session)?.liveTasks == 0)
        try store.acknowledge(session, .through(events[2].id))
    }

    @Test("waiting tasks can be suspended, cancelled or ended; when no task waits any more, the challenge is closed")
    func closed() throws {
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        for id in ids { try park(store, id) }
        let open = try challenges(store, session)[0]
        #expect(try store.control(session, .resume).count == 0)
        #expect(try store.control(session, .suspend, TaskSelection(ids: [ids[0]])).closedChallenges.isEmpty)
        #expect(try store.control(session, .cancel, TaskSelection(ids: [ids[1]])).closedChallenges.isEmpty)
        #expect(
            try store.end(ids[2], Outcome(state: .failed, failure: .init(.resourceTimeout, "")))?
                .closedChallenges == [])
        #expect(try challenges(store, session)[0].waitingTasks == 1)
        #expect(try store.control(session, .suspend).closedChallenges == [open.id])
        #expect(try challenges(store, session).isEmpty)
        #expect(try store.events(of: session).map(\.task?.id) == [ids[1], ids[2]])
        #expect(try store.info(session)?.events == 2)
        // Suspended and ended tasks open no challenge.
        #expect(try park(store, ids[0]) == nil)
        #expect(try park(store, ids[1]) == nil)
        #expect(try challenges(store, session).isEmpty)
    }

    @Test("a challenge stays open when its event is acknowledged")
    func acknowledged() throws {
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        try park(store, id)
        let event = try store.events(of: session)[0]
        #expect(try store.acknowledge(session, .ids([event.id])).count == 1)
        #expect(try challenges(store, session).count == 1)
        #expect(try store.info(session)?.events == 0)
        #expect(try store.info(session)?.openChallenges == 1)
        #expect(try store.control(session, .cancel).closedChallenges.count == 1)
        #expect(try store.info(session)?.events == 2)
    }

    @Test("a task that waits for a credential keeps its checkpoint")
    func keepsCheckpoint() throws {
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        let kept = Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: "u", size: 9, syncedOffset: 5, bootID: "b")
        try store.run { transaction in
            var record = Self.record
            record.checkpoint = kept
            _ = try transaction.challenges.park(id, record, for: .example(), bootMilliseconds: 0, now: 0)
        }
        let task = try store.run { try $0.tasks.find(id) }
        #expect(task?.task.checkpoint == kept)
        #expect(task?.task.bytesReceived == 5)
    }

    @Test("a task can wait for a challenge before the task's first attempt, but only if this challenge is still open")
    func unasked() throws {
        let ids = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
        let challenge = try #require(try park(store, ids[0])).challenge
        let next = try store.run {
            try $0.challenges.parkWithoutAttempt([ids[1]], for: challenge, bootMilliseconds: 10, now: 2_500)
        }
        #expect(next == Int64(604_799_510))
        try store.control(session, .cancel, TaskSelection(ids: [ids[0], ids[1]]))
        let late = try store.run {
            try $0.challenges.parkWithoutAttempt([ids[2]], for: challenge, bootMilliseconds: 10, now: 2_500)
        }
        #expect(late == nil)
        #expect(try waiting(store) == [ids[2]])
    }

    @Test("a task that waits for a credential gets a new deadline when the session's resource time-out changes")
    func rescheduled() throws {
        try park(store, try store.enqueue([.numbered(0)], in: session)[0])
        let next = try store.run { transaction in
            var configuration = try transaction.sessions.configuration(of: session)
            configuration.resourceTimeoutMilliseconds = 1_000
            try transaction.sessions.update(session, configuration)
            try transaction.challenges.rescheduleParked(of: session, bootMilliseconds: 77, now: 2_995)
            return try transaction.delays.nextDue()
        }
        #expect(next == 82)
    }

    @Test("after a reboot, tasks still wait for the credential, and their deadline uses the new boot clock")
    func otherBoot() throws {
        try park(store, try store.enqueue([.numbered(0)], in: session)[0])
        try store.run { try $0.connection.execute("UPDATE meta SET value = 'another' WHERE key = 'boot_id'") }
        store.close()
        let again = try TestStore(scratch.path)
        #expect(try waiting(again).isEmpty)
        #expect(try challenges(again, session).map(\.waitingTasks) == [1])
        let next = try again.run { transaction in
            try transaction.challenges.rescheduleParked(bootMilliseconds: 77, now: 604_802_000 - 5)
            return try transaction.delays.nextDue()
        }
        #expect(next == 82)
    }
}
