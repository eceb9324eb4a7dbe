import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("The resource time-out of suspended tasks")
struct SuspendedTimeTests {
    let store: TestStore
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
    }

    private func suspended(_ store: TestStore, _ session: SessionID) throws -> Int64 {
        let lanes = try store.run { try $0.lanes.ready() }
        let lane = try #require(lanes.first).id
        let tasks = try store.run { try $0.lanes.waitingTasks(of: lane, limit: 1) }
        return try #require(tasks.first).suspendedMilliseconds
    }

    private func control(_ store: TestStore, _ session: SessionID, _ control: TaskControl, at now: Int64) throws {
        try store.run { _ = try $0.control.apply(control, to: TaskSelection(), of: session, running: [], now: now) }
    }

    @Test("the times in which a task is suspended are added up")
    func addedUp() throws {
        let session = try store.session()
        try store.enqueue([.numbered(1)], in: session)
        try control(store, session, .suspend, at: 5_000)
        try control(store, session, .suspend, at: 6_000)
        try control(store, session, .resume, at: 9_000)
        try control(store, session, .resume, at: 10_000)
        #expect(try suspended(store, session) == 4_000)
        try control(store, session, .suspend, at: 20_000)
        try control(store, session, .resume, at: 21_000)
        #expect(try suspended(store, session) == 5_000)
    }

    @Test("a task that starts suspended counts as suspended from its enqueue")
    func startsSuspended() throws {
        let session = try store.session()
        try store.enqueue([.numbered(1) { $0.startsSuspended = true }], in: session)
        try control(store, session, .resume, at: 2_700)
        #expect(try suspended(store, session) == 700)
    }

    @Test("setting the clock back does not make the suspended time negative")
    func backwards() throws {
        let session = try store.session()
        try store.enqueue([.numbered(1)], in: session)
        try control(store, session, .suspend, at: 5_000)
        try control(store, session, .resume, at: 4_000)
        #expect(try suspended(store, session) == 0)
    }

    @Test("if the clock is set while a task is suspended, the task's suspended time stays correct")
    func jump() throws {
        let session = try store.session()
        try store.enqueue([.numbered(1)], in: session)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 5_000, boot: 100, bootID: "b")) }
        try control(store, session, .suspend, at: 5_000)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 9_005_000, boot: 1_100, bootID: "b")) }
        try control(store, session, .resume, at: 9_005_500)
        #expect(try suspended(store, session) == 1_500)
    }

    @Test("a transaction reads the age calendar that an earlier transaction has set")
    func calendar() throws {
        let step = ClockReading(wall: 3_605_000, boot: 1_100, bootID: "b")
        func read() throws -> [Int64?] {
            try store.run { transaction in
                [try transaction.delays.calendar(bootMilliseconds: 1_200), try transaction.delays.wallBeforeStep(step)]
            }
        }
        #expect(try read() == [nil, 3_605_000])
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 5_000, boot: 100, bootID: "b")) }
        #expect(try read() == [6_100, 6_000])
        try store.run { _ = try $0.delays.adopt(step) }
        #expect(try read() == [3_605_100, 3_605_000])
    }

    @Test("a new configuration can shorten the delay before a retry")
    func rescheduled() throws {
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try store.run {
            try $0.attempts.record(
                task,
                AttemptRecord(
                    attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 0, nextAttempt: 900_000, reason: .retry))
        }
        #expect(try due(in: session) { $0.longestRetryDelayMilliseconds = 2_000_000 } == 900_000)
        #expect(try due(in: session) { $0.longestRetryDelayMilliseconds = 60_000 } == 61_000)
        #expect(try due(in: session) { $0.resourceTimeoutMilliseconds = 5_000 } == 5_000)
        #expect(try due(in: session) { $0.resourceTimeoutMilliseconds = 500 } == 1_000)
    }

    @Test("a new configuration shortens the pause of an origin only to the end of the task's resource time-out")
    func rescheduledPause() throws {
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try store.run {
            try $0.attempts.record(
                task,
                AttemptRecord(
                    attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 0, nextAttempt: 900_000, reason: .origin))
        }
        #expect(try due(in: session) { $0.longestRetryDelayMilliseconds = 60_000 } == 900_000)
        #expect(try due(in: session) { $0.resourceTimeoutMilliseconds = 5_000 } == 5_000)
    }

    /// Returns when the session's delayed task is due after this change of the configuration. The task was enqueued a
    /// second ago.
    private func due(
        in session: SessionID, after change: (inout SessionConfiguration) -> Void
    ) throws -> Int64? {
        var configuration = SessionConfiguration(identifier: "gallery")
        change(&configuration)
        let made = configuration
        return try store.run { transaction in
            try transaction.sessions.update(session, made)
            try transaction.delays.rescheduleRetries(of: session, bootMilliseconds: 1_000, now: 3_000)
            return try transaction.delays.nextDue()
        }
    }
}
