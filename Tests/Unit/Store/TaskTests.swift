import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Tasks that wait and run")
struct TaskTests {
    let store: TestStore
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
    }
    private static let checkpoint = Checkpoint(
        validator: Validator(entityTag: "\"a\"", lastModified: "yesterday"), finalURL: "https://cdn.example.org/1",
        size: .max, syncedOffset: 1 << 63, bootID: "boot")
    private static let intent = FinishIntent(device: .max, inode: 1 << 63, size: 0)

    private func lane(_ store: TestStore) throws -> LaneID {
        let lanes = try store.run { try $0.lanes.ready() }
        return try #require(lanes.first).id
    }

    private func waiting(
        _ store: TestStore, _ lane: LaneID, limit: Int = 100, known: Set<TaskID> = []
    ) throws -> [TaskID] {
        try store.run { try $0.lanes.waitingTasks(of: lane, limit: limit, afterKnown: known).map(\.id) }
    }

    private func record(_ store: TestStore, _ id: TaskID, _ record: AttemptRecord) throws {
        try store.run { try $0.attempts.record(id, record) }
    }

    private func stored(_ store: TestStore, _ id: TaskID) throws -> StoredTask {
        try #require(try store.run { try $0.tasks.find(id) }).task
    }

    private func delayed(until due: Int64, _ reason: WaitReason = .retry) -> AttemptRecord {
        AttemptRecord(
            attempts: 2, attemptsWithoutProgress: 1, bytesReceived: 99,
            failure: Failure(.connectionLost, "it broke", domain: .curl, detail: 56), httpStatus: 200,
            nextAttempt: due, reason: reason)
    }

    @Test("each checkpoint stores the number of attempts, the received bytes and the furthest offset of its task")
    func soFar() throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        try record(store, id, AttemptRecord(attempts: 3, attemptsWithoutProgress: 2, bytesReceived: 50))
        for (offset, madeProgress) in [(UInt64(900), true), (100, false)] {
            try store.run {
                try $0.attempts.recordCheckpoint(
                    id, Self.checkpoint,
                    AttemptProgress(
                        attempts: 4, bytesReceived: 950, furthestOffset: offset, madeProgress: madeProgress))
            }
            let task = try stored(store, id)
            #expect(task.attempts == 4)
            #expect(task.attemptsWithoutProgress == 0)
            #expect(task.bytesReceived == 950)
            #expect(task.furthestOffset == 900)
            #expect(task.checkpoint == Self.checkpoint)
        }
    }

    @Test("a live task keeps a daemon running, unless the task is suspended or waits for a credential")
    func keepADaemon() throws {
        func wait() throws -> Bool {
            try store.run { try $0.lanes.anyStarts() }
        }
        let session = try store.session()
        #expect(try !wait())
        let ids = try store.enqueue([.numbered(1)], in: session)
        #expect(try wait())
        try store.control(session, .suspend, TaskSelection(ids: ids))
        #expect(try !wait())
        try store.control(session, .resume, TaskSelection(ids: ids))
        try record(store, ids[0], delayed(until: .max))
        #expect(try wait())
        try record(store, ids[0], delayed(until: .max, .credential))
        #expect(try !wait())
    }

    @Test("waiting tasks are ordered by priority, then age; tasks already in memory are skipped and not counted")
    func order() throws {
        let session = try store.session()
        let priorities: [Int32] = [0, 5, -100, 100, 5, 0]
        let ids = try store.enqueue(
            priorities.enumerated().map { number, priority in .numbered(number) { $0.priority = priority } },
            in: session)
        let lane = try lane(store)
        #expect(try waiting(store, lane) == [3, 1, 4, 0, 5, 2].map { ids[$0] })
        #expect(try waiting(store, lane, limit: 2) == [ids[3], ids[1]])
        #expect(try waiting(store, lane, limit: 2, known: [ids[3], ids[4]]) == [ids[1], ids[0]])
        #expect(try waiting(store, lane, limit: 0).isEmpty)
        #expect(try waiting(store, lane, limit: -1).isEmpty)
        #expect(try waiting(store, LaneID(rawValue: .max)).isEmpty)
        try store.control(session, .setPriority(50), TaskSelection(ids: [ids[2]]))
        #expect(try waiting(store, lane, limit: 2) == [ids[3], ids[2]])
        #expect(try stored(store, ids[2]).request.priority == 50)
    }

    @Test("suspended, delayed and ended tasks are not ready")
    func leftOut() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        let lane = try lane(store)
        try store.control(session, .suspend, TaskSelection(ids: [ids[0]]))
        try record(store, ids[1], delayed(until: 500))
        try store.end(ids[2])
        #expect(try waiting(store, lane) == [ids[3]])
    }

    @Test("a task with a complete file can be cancelled while it is delayed, and not while its file gets its name")
    func completeFile() throws {
        let session = try store.session()
        let reasons: [WaitReason?] = [.storage, .retry, .diskFull, nil]
        let ids = try store.enqueue(reasons.indices.map { .numbered($0) }, in: session)
        for (id, reason) in zip(ids, reasons) {
            let isLive = try store.run {
                try $0.attempts.recordIntent(
                    id, FinishIntent(device: 1, inode: 2, size: 3), response: ResponseSummary(), attempts: 1,
                    bytesReceived: 3)
            }
            #expect(isLive)
            if let reason { try record(store, id, delayed(until: 500, reason)) }
        }
        #expect(try store.control(session, .cancel).tasks == Array(ids[..<3]))
    }

    @Test("when an engine starts, tasks with complete files are not delayed any more, so they cannot be cancelled")
    func sealedAtStart() throws {
        let session = try store.session()
        let ids = try store.enqueue([.numbered(0), .numbered(1)], in: session)
        for id in ids {
            try recordIntent(store, id)
            try record(store, id, delayed(until: 500, .diskFull))
        }
        try store.run { try $0.delays.releaseSealed() }
        #expect(try store.run { try $0.tasks.withIntent().map(\.id) } == ids)
        #expect(try store.control(session, .cancel).tasks.isEmpty)
    }

    @Test(
        "if a download is cancelled with a complete file, its kept file may exist already and is listed for removal",
        arguments: [TaskControl.suspend, .setAside])
    func cancelledComplete(control: TaskControl) throws {
        let session = try store.session()
        let ids = try store.enqueue(
            [.numbered(0) { $0.destination = nil }, .numbered(1) { $0.destination = nil }, .numbered(2)], in: session)
        // The engine had all bytes before the stop, so it finishes the file.
        try store.control(session, control)
        for id in [ids[0], ids[2]] { try recordIntent(store, id) }
        #expect(try store.control(session, .cancel).tasks == ids)
        let leftovers = try store.run { try $0.leftovers.page(now: 0, limit: 10).files }
        #expect(leftovers.filter { $0.kind == .kept } == [Leftover(task: ids[0], kind: .kept)])
        #expect(leftovers.filter { $0.kind != .kept }.map(\.task) == ids)
    }

    private func recordIntent(_ store: TestStore, _ id: TaskID) throws {
        let isLive = try store.run { try $0.attempts.recordIntent(id, Self.intent) }
        #expect(isLive)
    }

    @Test("a released task with a complete file needs no slot, so it is returned itself; of other tasks, the lane is")
    func released() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        let lane = try lane(store)
        for id in [ids[0], ids[2]] { try recordIntent(store, id) }
        for (id, reason) in zip(ids, [WaitReason.storage, .storage, .retry, .retry]) {
            try record(store, id, delayed(until: 500, reason))
        }
        let storage = try store.run { try $0.delays.releaseStorage() }
        #expect(storage.complete.map(\.id) == [ids[0]] && storage.lanes == [lane])
        let due = try store.run { try $0.delays.releaseDue(bootMilliseconds: 500) }
        #expect(due.complete.map(\.id) == [ids[2]] && due.lanes == [lane])
        #expect(due.complete.first?.intent == Self.intent)
    }

    @Test(
        "a resumed task with a complete file is due at once, and needs no slot",
        arguments: [TaskControl.suspend, .setAside, nil])
    func resumedComplete(control: TaskControl?) throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        try recordIntent(store, id)
        try record(store, id, delayed(until: 500, .storage))
        if let control { try store.control(session, control) }
        #expect(try store.control(session, .resume).nextDue == 1)
        #expect(try store.run { try $0.lanes.ready() }.isEmpty)
        #expect(try store.control(session, .setPriority(Limits.priorityNow)).count == 1)
        let due = try store.run { try $0.delays.releaseDue(bootMilliseconds: 2) }
        #expect(due.complete.map(\.id) == [id] && due.lanes.isEmpty)
    }

    @Test("the next engine does not finish the file of a suspended task", arguments: [TaskControl.suspend, .setAside])
    func suspendedComplete(control: TaskControl) throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        try recordIntent(store, id)
        try record(store, id, delayed(until: 500, .storage))
        #expect(try store.run { try $0.tasks.withIntent() }.map(\.id) == [id])
        try store.control(session, control)
        #expect(try store.run { try $0.tasks.withIntent() }.isEmpty)
    }

    @Test("a task becomes ready at the end of its delay, and its lane is returned")
    func due() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
        let lane = try lane(store)
        try record(store, ids[0], delayed(until: 500))
        try record(store, ids[1], delayed(until: 700, .diskFull))
        let info = try store.run {
            try $0.listing.tasks(
                of: session, TaskSelection(), after: .zero, maximum: 9, running: [], bootMilliseconds: 600, now: 10_000
            ).tasks
        }
        #expect(info.map(\.reason) == [.retry, .diskFull, .slot])
        #expect(info.map(\.nextAttemptMilliseconds) == [10_000, 10_100, 0])
        #expect(info.allSatisfy { $0.reasonText != nil })
        #expect(info[0].failure == Failure(.connectionLost, "it broke", domain: .curl, detail: 56))
        #expect(info[0].httpStatus == 200)
        func release(_ time: Int64) throws -> Set<LaneID> {
            try store.run { try $0.delays.releaseDue(bootMilliseconds: time).lanes }
        }
        func next() throws -> Int64? {
            try store.run { try $0.delays.nextDue() }
        }
        #expect(try next() == 500)
        #expect(try release(499).isEmpty)
        #expect(try release(500) == [lane])
        #expect(try waiting(store, lane) == [ids[0], ids[2]])
        #expect(try next() == 700)
        #expect(try store.control(session, .resume).tasks == [ids[1]])
        #expect(try next() == nil)
    }

    @Test("each attempt is stored; after an attempt without a failure, the task keeps its last failure")
    func attempts() throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        var first = delayed(until: 5)
        first.checkpoint = Self.checkpoint
        first.bytesReceived = .max
        try record(store, id, first)
        var task = try stored(store, id)
        #expect(task.attempts == 2)
        #expect(task.attemptsWithoutProgress == 1)
        #expect(task.bytesReceived == .max)
        #expect(task.checkpoint == Self.checkpoint)
        try record(store, id, AttemptRecord(attempts: 3, attemptsWithoutProgress: 0, bytesReceived: 100))
        task = try stored(store, id)
        #expect(task.attempts == 3)
        #expect(task.checkpoint == nil)
        let info = try #require(try store.tasks(of: session).first)
        #expect(info.failure?.status == .connectionLost)
        #expect(info.httpStatus == 200)
    }

    @Test("checkpoints and the records of finished files are stored without loss, and can be removed")
    func progress() throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        let plain = Checkpoint(validator: Validator(), finalURL: "u", size: nil, syncedOffset: 0, bootID: "")
        try store.run { transaction in
            try transaction.attempts.recordCheckpoint(id, plain)
            #expect(try transaction.tasks.find(id)?.task.checkpoint == plain)
            try transaction.attempts.recordCheckpoint(id, Self.checkpoint)
            #expect(try transaction.attempts.recordIntent(id, Self.intent))
        }
        store.close()
        let again = try TestStore(scratch.path)
        let sealed = try again.run { try $0.tasks.withIntent() }
        #expect(sealed.map(\.id) == [id])
        #expect(sealed.first?.intent == Self.intent)
        #expect(sealed.first?.checkpoint == Self.checkpoint)
        #expect(try again.tasks(of: session).first?.reason == .disk)
        try again.run { transaction in
            try transaction.attempts.forgetProgress(id)
            #expect(try transaction.tasks.find(id)?.task.checkpoint == nil)
            #expect(try transaction.tasks.find(id)?.task.intent == nil)
        }
    }

    @Test("for a task that has ended, no checkpoint, attempt or finished file is recorded")
    func ended() throws {
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        try store.control(session, .cancel)
        let before = try store.events(of: session)
        let gone = TaskID(rawValue: .max)
        try store.run { transaction in
            for task in [id, gone] {
                try transaction.attempts.recordCheckpoint(task, Self.checkpoint)
                #expect(try !transaction.attempts.recordIntent(task, Self.intent))
                try transaction.attempts.record(task, delayed(until: 5))
                try transaction.attempts.forgetProgress(task)
            }
            #expect(try transaction.delays.nextDue() == nil)
            #expect(try transaction.tasks.find(id)?.task.checkpoint == nil)
            #expect(try transaction.tasks.find(gone) == nil)
            #expect(try transaction.endings.record(gone, Outcome(state: .succeeded), now: 1) == nil)
        }
        #expect(try store.events(of: session) == before)
    }

    @Test("a control command counts only the selected live tasks that it changes")
    func controls() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        #expect(try store.control(session, .suspend, TaskSelection(ids: [ids[1], ids[1], ids[3]])).count == 2)
        #expect(try store.control(session, .suspend).tasks == [ids[0], ids[2]])
        #expect(try store.control(session, .suspend).count == 0)
        let resumed = try store.control(session, .resume, TaskSelection(ids: [ids[0], TaskID(rawValue: .max)]))
        #expect(resumed.tasks == [ids[0]])
        #expect(resumed.lanes == [try lane(store)])
        #expect(try store.control(session, .setPriority(0)).count == 0)
        #expect(try store.control(session, .setPriority(9)).count == 4)
        let suspended = TaskSelection(states: TaskStates(.suspended))
        #expect(try store.control(session, .cancel, suspended).tasks == Array(ids[1...]))
        #expect(try store.control(session, .cancel, TaskSelection(states: TaskStates(.succeeded))).count == 0)
        #expect(try store.tasks(of: session).map(\.state) == [.waiting, .cancelled, .cancelled, .cancelled])
    }

    @Test("a selection by state distinguishes running tasks from waiting tasks")
    func running() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<5).map { .numbered($0) }, in: session)
        let running: Set = [ids[1], ids[3]]
        func listed(_ states: TaskStates) throws -> [TaskInfo] {
            try store.run {
                try $0.listing.tasks(
                    of: session, TaskSelection(states: states), after: .zero, maximum: 9, running: running,
                    bootMilliseconds: 0, now: 0
                ).tasks
            }
        }
        #expect(try listed(TaskStates(.running)).map(\.id) == [ids[1], ids[3]])
        #expect(try listed(TaskStates(.running)).allSatisfy { $0.state == .running })
        #expect(try listed(TaskStates(.waiting)).map(\.id) == [ids[0], ids[2], ids[4]])
        #expect(try listed(.live).map(\.id) == ids)
        let waiting = TaskSelection(states: TaskStates(.waiting))
        #expect(try store.control(session, .suspend, waiting, running: running).tasks == [ids[0], ids[2], ids[4]])
        let runningOnly = TaskSelection(states: TaskStates(.running))
        #expect(try store.control(session, .cancel, runningOnly, running: running).tasks == [ids[1], ids[3]])
        #expect(try listed([TaskStates(.suspended), TaskStates(.cancelled)]).map(\.id) == ids)
        #expect(try listed(TaskStates(.running)).isEmpty)
    }

    @Test("control commands skip a task whose file is complete and gets its final name now")
    func finishing() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<2).map { .numbered($0) }, in: session)
        _ = try store.run { try $0.attempts.recordIntent(ids[0], Self.intent) }
        #expect(try store.control(session, .suspend).tasks == [ids[1]])
        #expect(try store.control(session, .cancel).tasks == [ids[1]])
        #expect(try store.control(session, .cancel, TaskSelection(ids: ids)).count == 0)
        try store.end(ids[0])
        #expect(try store.events(of: session).last?.kind == .sessionFinished)
    }

    @Test("control commands and listings do not include tasks of another session")
    func others() throws {
        let mine = try store.session()
        let theirs = try store.session("theirs")
        let id = try store.enqueue([.numbered(1)], in: theirs)[0]
        #expect(try store.control(mine, .cancel, TaskSelection(ids: [id])).count == 0)
        #expect(try store.control(mine, .cancel).count == 0)
        #expect(try store.tasks(of: mine, TaskSelection(ids: [id])).isEmpty)
        let failure = #expect(throws: Failure.self) { try store.control(SessionID(rawValue: 99), .cancel) }
        #expect(failure?.status == .notFound)
    }

    @Test("listings continue after a cursor, are ordered by id, and include tasks in all states")
    func pages() throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<10).map { .numbered($0) }, in: session)
        try store.end(ids[0])
        try store.end(ids[4], Outcome(state: .failed, failure: Failure(.tooLarge, "too large")))
        try store.control(session, .cancel, TaskSelection(ids: [ids[7]]))
        try store.control(session, .suspend, TaskSelection(ids: [ids[2]]))
        var found: [TaskID] = []
        var after = TaskID.zero
        while true {
            let cursor = after
            let page = try store.run {
                try $0.listing.tasks(
                    of: session, TaskSelection(), after: cursor, maximum: 3, running: [], bootMilliseconds: 0, now: 0)
            }
            #expect(page.tasks.count <= 3)
            found += page.tasks.map(\.id)
            guard page.more else { break }
            after = page.tasks.last!.id
        }
        #expect(found == ids)
        let some = try store.run {
            try $0.listing.tasks(
                of: session, TaskSelection(ids: [ids[9], ids[1], ids[5]]), after: ids[1], maximum: 1, running: [],
                bootMilliseconds: 0, now: 0)
        }
        #expect(some.tasks.map(\.id) == [ids[5]])
        #expect(some.more)
        let ended = try store.tasks(of: session, TaskSelection(states: [TaskStates(.failed), TaskStates(.succeeded)]))
        #expect(ended.map(\.id) == [ids[0], ids[4]])
        #expect(ended.last?.failure?.status == .tooLarge)
    }
}
