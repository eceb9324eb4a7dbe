import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Wait records in the store")
struct WaitTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func waits(_ store: TestStore, _ session: SessionID, _ task: TaskID, now: Int64) throws -> [String]? {
        try store.run {
            try $0.waits.all(of: task, in: session, now: now)
        }?.map { "\($0.reason) \($0.beganMilliseconds)-\($0.endedMilliseconds.map(String.init) ?? "")" }
    }

    private func wait(
        _ store: TestStore, _ scope: WaitScope, _ reason: WaitReason, from begin: Int64, to end: Int64? = nil,
        _ sentence: String = "it waits"
    ) throws {
        try store.run { transaction in
            let id = try transaction.waits.begin(scope, reason, sentence, now: begin)
            if let end { try transaction.waits.end(id, now: end) }
        }
    }

    @Test("the wait records of a task include the records of its constraints, of its lane and of its session")
    func scopes() throws {
        let other = try store.session("other")
        // The tasks are enqueued at 2,000 ms.
        let plain = try store.enqueue([.numbered(1)], in: session)[0]
        let stating = try store.enqueue([.stating(2, .overnight)], in: session)[0]
        let record = try #require(
            try store.run { try $0.tasks.find(stating) })
        let constraints = record.task.constraints
        try wait(store, WaitScope(session, constraints: .session), .power, from: 1_000, to: 20_000)
        try wait(store, WaitScope(session, constraints: constraints), .metered, from: 30_000, to: 40_000)
        try wait(store, WaitScope(session, lane: record.task.lane), .throughput, from: 50_000, to: 60_000)
        try wait(store, WaitScope(session, lane: LaneID(rawValue: 999)), .throughput, from: 61_000, to: 62_000)
        try wait(store, WaitScope(session, task: plain), .budget, from: 70_000, to: 71_000)
        try wait(store, WaitScope(session), .sleep, from: 80_000)
        try wait(store, WaitScope(other), .heat, from: 1_000)
        let everyone = ["throughput 50000-60000"]
        #expect(
            try waits(store, session, plain, now: 90_000)
                == ["power 2000-20000"] + everyone + ["budget 70000-71000", "sleep 80000-"])
        #expect(
            try waits(store, session, stating, now: 90_000) == ["metered 30000-40000"] + everyone + ["sleep 80000-"])
        #expect(try waits(store, session, TaskID(rawValue: 99), now: 1) == nil)
        #expect(try waits(store, other, plain, now: 1) == nil)
    }

    @Test("the waits of several tasks are listed as those of each task, and missing tasks are left out")
    func several() throws {
        let tasks = try store.enqueue([.numbered(1), .stating(2, .overnight), .numbered(3)], in: session)
        try wait(store, WaitScope(session, constraints: .session), .power, from: 1_000, to: 20_000)
        try wait(store, WaitScope(session, task: tasks[2]), .budget, from: 70_000, to: 71_000)
        let ids = [tasks[2], TaskID(rawValue: 99), tasks[0], tasks[1]]
        let listed = try store.run { [session] in try $0.waits.all(of: ids, in: session, now: 90_000) }
        let expected = try store.run { [session] transaction in
            try tasks.flatMap { try transaction.waits.all(of: $0, in: session, now: 90_000) ?? [] }
        }
        #expect(listed.waits == expected)
        #expect(!listed.more)
        #expect(listed.waits.map(\.task) == [tasks[0], tasks[2], tasks[2]])
        let texts = try waits(store, session, tasks[2], now: 90_000)
        #expect(texts == ["power 2000-20000", "budget 70000-71000"])
    }

    @Test("a task keeps the records of its old constraints when it gets other constraints")
    func otherConstraints() throws {
        let task = try store.enqueue([.stating(2, .overnight)], in: session)[0]
        let constraints = try #require(try store.run { try $0.tasks.find(task) }).task.constraints
        try wait(store, WaitScope(session, constraints: constraints), .metered, from: 1_000, to: 20_000)
        try wait(store, WaitScope(session, constraints: constraints), .quietHours, from: 30_000)
        try store.run {
            _ = try $0.control.apply(
                .setConstraints(Constraints()), to: TaskSelection(), of: session, running: [], now: 40_000)
        }
        #expect(
            try waits(store, session, task, now: 90_000) == ["metered 2000-20000", "quietHours 30000-40000"])
    }

    @Test("a wait because of a preset is listed only up to the task's latest start")
    func latestStart() throws {
        let made = try store.run { transaction in
            try transaction.tasks.enqueue(
                [(Request.stating(1, .overnight).changed { $0.options.latestStartMilliseconds = 50_000 }, .example)],
                in: session, now: 2_000)
        }
        let task = made.results[0].task
        let before = try store.constraints(of: [task])[0].id
        let moved = try store.run { try $0.starts.applyLatestStarts(now: 50_000) }
        let after = try #require(moved.tasks[task])
        try wait(store, WaitScope(session, constraints: before), .power, from: 10_000, to: 90_000)
        try wait(store, WaitScope(session, constraints: after), .heat, from: 20_000, to: 60_000)
        #expect(try waits(store, session, task, now: 99_000) == ["power 10000-50000", "heat 50000-60000"])
        try store.run { transaction in
            _ = try transaction.endings.record(task, Outcome(state: .succeeded), now: 55_000)
            let newest = try transaction.sessions.info(of: session)?.info.newestEvent ?? .zero
            _ = try transaction.events.acknowledge(session, .through(newest))
        }
        #expect(try waits(store, session, task, now: 99_000) == ["power 10000-50000", "heat 50000-55000"])
    }

    @Test("adjacent wait records with the same reason are merged")
    func joined() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try wait(store, WaitScope(session), .power, from: 10_000, to: 20_000, "80 %")
        try wait(store, WaitScope(session), .metered, from: 15_000, to: 18_000)
        try wait(store, WaitScope(session), .power, from: 20_500, to: 30_000, "70 %")
        try wait(store, WaitScope(session), .power, from: 40_000, "60 %")
        #expect(
            try waits(store, session, task, now: 90_000)
                == ["power 10000-30000", "metered 15000-18000", "power 40000-"])
        let sentences = try store.run { try $0.waits.all(of: task, in: session, now: 90_000)?.map(\.sentence) }
        #expect(sentences == ["70 %", "it waits", "60 %"])
    }

    @Test("without the engine, the store finds waits for an earliest start, a retry, a credential or a resume")
    func own() throws {
        let made = try store.run { transaction in
            try transaction.tasks.enqueue(
                [(Request.numbered(1) { $0.options.earliestStartMilliseconds = 8_000 }, .example)], in: session,
                now: 2_000, clock: ClockReading(wall: 2_000, boot: 1_000, bootID: "b"))
        }
        let task = made.results[0].task
        #expect(try waits(store, session, task, now: 3_000) == ["earliestStart 2000-"])
        @Sendable func attempt(
            _ number: UInt32, _ next: AttemptNext, at begin: Int64, until: Int64 = 0
        ) -> AttemptRecord {
            var attempt = Attempt(task: task, number: number, next: next)
            attempt.metrics.startedMilliseconds = begin
            attempt.metrics.responseEnd = 500_000
            attempt.nextAttemptMilliseconds = until
            attempt.failure = Failure(number == 1 ? .httpStatus : .diskFull, "the server responded 503")
            return AttemptRecord(
                attempts: number, attemptsWithoutProgress: 1, bytesReceived: 0,
                nextAttempt: next == .retry ? until : nil, reason: number == 1 ? .retry : .diskFull, attempt: attempt)
        }
        try store.run { transaction in
            _ = try transaction.delays.releaseDue(bootMilliseconds: 7_000)
            try transaction.attempts.record(task, attempt(1, .retry, at: 9_000, until: 20_000))
            _ = try transaction.delays.releaseDue(bootMilliseconds: 20_000)
            _ = try transaction.challenges.park(
                task, attempt(2, .challenge, at: 20_000), for: .example(), bootMilliseconds: 20_500, now: 20_500)
        }
        let before = ["earliestStart 2000-8000", "retry 9500-20000"]
        #expect(try waits(store, session, task, now: 21_000) == before + ["credential 20500-"])
        try store.run { transaction in
            guard let open = try transaction.challenges.all(of: session).first else { return }
            _ = try transaction.challenges.releaseTasks(of: open, in: session, now: 25_000)
        }
        #expect(try waits(store, session, task, now: 26_000) == before + ["credential 20500-25000"])
        try store.run { try $0.attempts.record(task, attempt(3, .retry, at: 30_000, until: 90_000)) }
        #expect(
            try waits(store, session, task, now: 31_000)
                == before + ["credential 20500-25000", "diskFull 30500-"])
        for (control, now) in [(TaskControl.suspend, Int64(40_000)), (.resume, 45_000), (.suspend, 50_000)] {
            try store.run { _ = try $0.control.apply(control, to: TaskSelection(), of: session, running: [], now: now) }
        }
        let listed = try #require(try waits(store, session, task, now: 60_000))
        #expect(listed.suffix(2) == ["suspended 40000-45000", "suspended 50000-"])
    }

    @Test("a task that asked for the pause of its origin has one wait, and an ordinary delay stays a retry")
    func pausedOrigin() throws {
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        let lane = try #require(try store.run { try $0.tasks.find(id) }).task.lane
        for (number, began, next) in [(1, 9_000, 20_000), (2, 30_000, 40_000)] as [(UInt32, Int64, Int64)] {
            var attempt = Attempt(task: id, number: number, next: .retry)
            attempt.metrics.startedMilliseconds = began
            attempt.nextAttemptMilliseconds = next
            attempt.failure = Failure(.httpStatus, "the server responded 503")
            let record = AttemptRecord(
                attempts: number, attemptsWithoutProgress: 1, bytesReceived: 0, nextAttempt: next, reason: .retry,
                attempt: attempt)
            try store.run { transaction in
                try transaction.attempts.record(id, record)
                _ = try transaction.delays.releaseDue(bootMilliseconds: next)
            }
        }
        try wait(store, WaitScope(session, lane: lane), .origin, from: 9_100, to: 20_050)
        #expect(try waits(store, session, id, now: 50_000) == ["origin 9000-20050", "retry 30000-40000"])
    }

    @Test("a session keeps about a thousand ended wait records, and all open wait records")
    func bounded() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try wait(store, WaitScope(session, constraints: .session), .heat, from: 2_000)
        for number in 0..<1_100 {
            try wait(
                store, WaitScope(session), .power, from: 10_000 * Int64(number + 1),
                to: 10_000 * Int64(number + 1) + 1)
        }
        let count = try store.run { transaction in
            try transaction.connection.first(Query("SELECT count(*) FROM waits")) { row throws(Failure) in
                row.integer()
            }
        }
        #expect(try #require(count) <= 1_040)
        #expect(try #require(try waits(store, session, task, now: 20_000_000)).count == Limits.waitCount)
        let open = try store.run { try $0.waits.open() }
        #expect(open.map(\.reason) == [.heat])
        #expect(open[0].scope == WaitScope(session, constraints: .session))
    }

    @Test("if the clock is set, the times of wait records change together with the times of their task")
    func jump() throws {
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 2_000, boot: 1_000, bootID: "b")) }
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try wait(store, WaitScope(session), .power, from: 4_000, to: 8_000)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 9_010_000, boot: 9_000, bootID: "b")) }
        #expect(try waits(store, session, task, now: 9_010_000) == ["power 9004000-9008000"])
    }

    @Test("the shared records of each session have a limit, also if sessions record in turn")
    func limit() throws {
        let sessions = [session] + (try ["b", "c", "d"].map { try store.session($0) })
        try store.run { transaction in
            for time in 0..<1_500 {
                for session in sessions {
                    let id = try transaction.waits.begin(WaitScope(session), .metered, "it waits", now: Int64(time))
                    try transaction.waits.end(id, now: Int64(time))
                }
            }
        }
        for session in sessions {
            let count = try store.run { transaction in
                try transaction.tables.connection.first(
                    Query("SELECT count(*) FROM waits WHERE session_id = ?"), .id(session)
                ) { row throws(Failure) in row.integer() }
            }
            #expect((count ?? 0) < 1_200)
        }
    }

    @Test("the records of single tasks have a limit, also if one finished wait is recorded at a time")
    func limitOfSingle() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        let record = WaitRecord(.dependency, "it waits", beganMilliseconds: 1, endedMilliseconds: 2)
        let count = try store.run { transaction in
            for _ in 0..<10_500 { try transaction.waits.record([(task, record)], in: session) }
            return try transaction.connection.first(Query("SELECT count(*) FROM waits")) { row throws(Failure) in
                row.integer()
            }
        }
        #expect(try #require(count) <= 10_040)
    }
}
