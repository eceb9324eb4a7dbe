import BackhaulModel
import Testing

@testable import BackhaulStore

extension Request {
    /// Returns a request with this preset (a name for several demands on the system). If the preset is nil, the request
    /// has no constraints.
    static func stating(_ number: Int, _ preset: ConstraintPreset?, priority: Int32 = 0) -> Request {
        .numbered(number) { request in
            if let preset { request.options.policy.constraints.preset = preset }
            request.priority = priority
        }
    }
}

@Suite("Constraints of tasks")
struct ConstraintsTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private var everything: Constraints {
        var constraints = Constraints()
        constraints.preset = .overnight
        constraints.requiresExternalPower = false
        constraints.requiresUnmetered = true
        constraints.networks = [.wifi, .ethernet]
        constraints.minimumBatteryPercent = 30
        constraints.maximumThermalState = .nominal
        constraints.maximumCPUPressurePercent = 1
        constraints.maximumIOPressurePercent = 2
        constraints.maximumMemoryPressurePercent = 100
        constraints.minimumBytesPerSecond = 77_000
        constraints.quietHours = QuietHours("mon-fri 08:00-18:00, sat 10:00-14:00")
        return constraints
    }

    private func readyTasks(
        _ store: TestStore, limit: Int = 100, known: Set<TaskID> = [], held: Set<ConstraintsID> = []
    ) throws -> [TaskID] {
        try store.run { transaction in
            let lane = try transaction.lanes.ready()[0].id
            return try transaction.lanes.waitingTasks(of: lane, limit: limit, afterKnown: known, notOf: held).map(\.id)
        }
    }

    private func constraints(of task: TaskID, _ store: TestStore) throws -> ConstraintsID {
        try #require(
            try store.run { try $0.tasks.find(task) }
        ).task.constraints
    }

    @Test("constraints are stored and read with all fields")
    func roundTrip() throws {
        let everything = everything
        let request = Request.numbered(1) { $0.options.policy.constraints = everything }
        let task = try store.enqueue([request], in: session)[0]
        let record = try #require(try store.run { try $0.tasks.find(task) })
        #expect(record.task.request == request)
        #expect(record.task.request.options.policy.constraints == everything)
        #expect(
            try store.constraints(of: [task]) == [
                StoredConstraints(
                    id: record.task.constraints, session: session, constraints: TaskConstraints(everything))
            ])
    }

    @Test("the first waiting task with given constraints is found even if other tasks are before it")
    func firstStating() throws {
        let requests: [Request] = [
            .stating(0, nil, priority: 9), .stating(1, .overnight), .stating(2, .discretionary),
            .stating(3, .discretionary), .stating(4, .discretionary, priority: 5),
        ]
        let tasks = try store.enqueue(requests, in: session)
        let stated = try constraints(of: tasks[2], store)
        func first(_ constraints: ConstraintsID, notIn known: Set<TaskID> = []) throws -> TaskID? {
            try store.run { transaction in
                let lane = try transaction.lanes.ready()[0].id
                return try transaction.lanes.firstWaitingTask(of: lane, stating: constraints, notIn: known)?.id
            }
        }
        #expect(try first(stated) == tasks[4])
        #expect(try first(stated, notIn: [tasks[4]]) == tasks[2])
        #expect(try first(stated, notIn: [tasks[2], tasks[3], tasks[4]]) == nil)
        #expect(try first(.session) == tasks[0])
    }

    @Test("the command to resume tasks returns how many selected tasks are held in the given lanes")
    func heldOnes() throws {
        let tasks = try store.enqueue(
            [.stating(0, nil), .stating(1, .overnight), .stating(2, .overnight), .stating(3, .overnight)], in: session)
        let stated = try constraints(of: tasks[1], store)
        try store.control(session, .suspend, TaskSelection(ids: [tasks[3]]))
        let change = try store.run { transaction in
            let lane = try transaction.lanes.ready()[0].id
            return try transaction.control.apply(
                .resume, to: TaskSelection(ids: [tasks[0], tasks[1], tasks[3]]), of: session, running: [], now: 1,
                held: [lane: [stated]])
        }
        #expect(change.tasks == [tasks[3]])
        #expect(change.held == 1)
    }

    @Test("in a session, tasks with equal constraints share a row, and tasks without constraints have no row")
    func shared() throws {
        let other = try store.session("other")
        let tasks = try store.enqueue((0..<6).map { .stating($0, $0 < 4 ? .discretionary : nil) }, in: session)
        let again = try store.enqueue([.stating(7, .discretionary)], in: session)
        let others = try store.enqueue([.stating(8, .discretionary)], in: other)
        let stated = try store.constraints(of: tasks + again)
        #expect(stated.count == 5 && Set(stated.map(\.id)).count == 1)
        #expect(stated.allSatisfy { $0.session == session && $0.constraints.stated.preset == .discretionary })
        #expect(try tasks.suffix(2).map { try constraints(of: $0, store) } == [.session, .session])
        let elsewhere = try store.constraints(of: others)
        #expect(elsewhere.map(\.session) == [other] && elsewhere[0].id != stated[0].id)
    }

    @Test("a request with a known idempotency key is refused if its policy differs, but not if its start times differ")
    func conflict() throws {
        let request = Request.stating(1, .overnight).changed { $0.idempotencyKey = "a" }
        let task = try store.enqueue([request], in: session)[0]
        #expect(try store.enqueue([request], in: session) == [task])
        let later = request.changed {
            $0.options.earliestStartMilliseconds = 9
            $0.options.latestStartMilliseconds = 9
        }
        #expect(try store.enqueue([later], in: session) == [task])
        let others: [(String, Request)] = [
            ("policy", request.changed { $0.options.policy.maximumAttempts = 9 }),
            ("expected_bytes_received", request.changed { $0.options.expectedBytesReceived = 9 }),
            ("expected_bytes_sent", request.changed { $0.options.expectedBytesSent = 9 }),
        ]
        for (field, other) in others {
            let failure = #expect(throws: Failure.self) { try store.enqueue([other], in: session) }
            #expect(failure?.status == .keyConflict)
            #expect(failure?.message.contains(" \(field);") == true, "\(failure?.message ?? "")")
        }
    }

    @Test("a task with replaced constraints is still found by its idempotency key")
    func replaced() throws {
        let request = Request.stating(1, .overnight).changed { $0.idempotencyKey = "a" }
        let late = Request.stating(2, .overnight).changed { $0.options.latestStartMilliseconds = 1 }
        let tasks = try store.enqueue([request, late], in: session)
        let before = try tasks.map { try constraints(of: $0, store) }
        var wifi = Constraints()
        wifi.networks = .wifi
        let stated = wifi
        let change = try store.run {
            try $0.control.apply(
                .setConstraints(stated), to: TaskSelection(), of: session, running: [], now: 5)
        }
        let after = try tasks.map { try constraints(of: $0, store) }
        #expect(change.count == 2 && change.restated.tasks == [tasks[0]: after[0], tasks[1]: after[1]])
        #expect(Set(before).isDisjoint(with: after))
        let new = [TaskConstraints(stated), TaskConstraints(stated, isPastLatestStart: true)]
        #expect(try store.constraints(of: tasks).map(\.constraints) == new)
        #expect(Set(change.restated.constraints.values.map(\.constraints)) == Set(new))
        #expect(try store.enqueue([request], in: session) == [tasks[0]])
    }

    @Test("if a launched host enqueues tasks, the rows of their constraints are marked as launched")
    func launched() throws {
        let made = try store.run {
            try $0.tasks.enqueue(
                [(.numbered(1), .example), (.stating(2, .overnight), .example)], in: session, now: 1,
                isLaunched: true)
        }
        let stated = try store.constraints(of: made.results.map(\.task))
        #expect(stated.map(\.constraints.isLaunched) == [true, true])
        #expect(stated.map(\.constraints.stated.preset) == [nil, .overnight])
    }

    @Test("ready tasks are ordered by priority and then by age, even if their constraints differ")
    func readyTasks() throws {
        let presets: [ConstraintPreset?] = [nil, .discretionary, .overnight]
        let requests = (0..<60).map { Request.stating($0, presets[$0 % 3], priority: Int32($0 % 4)) }
        let ids = try store.enqueue(requests, in: session)
        func expected(_ isWanted: (Int) -> Bool) -> [TaskID] {
            (0..<60).filter(isWanted).sorted { ($1 % 4, $0) < ($0 % 4, $1) }.map { ids[$0] }
        }
        let discretionary = try constraints(of: ids[1], store)
        #expect(try readyTasks(store) == expected { _ in true })
        #expect(try readyTasks(store, limit: 7) == Array(expected { _ in true }.prefix(7)))
        #expect(try readyTasks(store, held: [discretionary]) == expected { $0 % 3 != 1 })
        #expect(try readyTasks(store, held: [.session]) == expected { $0 % 3 != 0 })
        #expect(try readyTasks(store, limit: 5, held: [.session]) == Array(expected { $0 % 3 != 0 }.prefix(5)))
        let known = Set(expected { _ in true }.prefix(10))
        #expect(try readyTasks(store, limit: 9, known: known) == Array(expected { _ in true }.dropFirst(10).prefix(9)))
    }

    @Test("ready tasks are counted separately for each lane and each set of constraints")
    func counts() throws {
        let ids = try store.enqueue((0..<5).map { .stating($0, $0 < 2 ? .overnight : nil) }, in: session)
        try store.control(session, .suspend, TaskSelection(ids: [ids[4]]))
        let counts = try store.run { try $0.lanes.waitingCounts() }
        #expect(counts.map(\.count) == [2, 2])
        #expect(counts.map(\.constraints) == [.session, try constraints(of: ids[0], store)])
        #expect(counts.allSatisfy { $0.session == session })
    }

    @Test("an enqueue above a session's limit of different constraints is refused; unused constraints are deleted")
    func limit() throws {
        func request(_ number: Int) -> Request {
            .numbered(number) { $0.options.policy.constraints.minimumBytesPerSecond = UInt64(number + 1) }
        }
        let limit = Limits.constraintsCount
        let ids = try store.enqueue((0..<limit).map(request), in: session)
        let failure = #expect(throws: Failure.self) { try store.enqueue([request(limit)], in: session) }
        #expect(failure?.status == .tooMany)
        // Constraints that have a row are still accepted.
        try store.enqueue([request(3).changed { $0.destination?.path += "b" }], in: session)
        try store.control(session, .cancel, TaskSelection(ids: [ids[9]]))
        try store.acknowledge(session, .through(try #require(try store.info(session)).newestEvent))
        #expect(try store.enqueue([request(limit)], in: session).count == 1)
    }
}

extension Request {
    func changed(_ change: (inout Request) -> Void) -> Request {
        var request = self
        change(&request)
        return request
    }
}
