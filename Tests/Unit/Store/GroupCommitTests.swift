import BackhaulModel
import BackhaulPlatform
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Group commit")
struct GroupCommitTests {
    let scratch = Scratch()

    private struct Body: Sendable {
        let run: @Sendable (Transaction) throws(Failure) -> Int
        init(_ run: @escaping @Sendable (Transaction) throws(Failure) -> Int) { self.run = run }
    }

    /// Posts the bodies while the store's thread is blocked, so that one transaction commits them all.
    private func gather(_ store: TestStore, _ bodies: [Body]) -> [Result<Int, Failure>] {
        let gate = Lock(false)
        let results = Lock<[Result<Int, Failure>]>([])
        store.thread.perform(
            { _ throws(Failure) in _ = gate.wait(until: .after(milliseconds: 60_000)) { $0 ? true : nil } },
            then: { _ in })
        for body in bodies { store.thread.perform(body.run, then: { result in results.change { $0.append(result) } }) }
        gate.change { $0 = true }
        return results.wait(until: .after(milliseconds: 60_000)) { $0.count == bodies.count ? $0 : nil } ?? []
    }

    @Sendable private static func failing(_ transaction: Transaction) throws(Failure) -> Int {
        _ = try transaction.sessions.create(
            application: "org.example", configuration: SessionConfiguration(identifier: "undone"), role: .produce,
            consumer: .of(9), now: 1)
        throw Failure(.wrongState, "changed its mind")
    }

    private func logState() -> [Int] {
        var status = stat()
        stat(scratch.path + "/" + Schema.fileName + "-wal", &status)
        return [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    @Test("if a body of a transaction throws, its work is undone, and the other bodies are committed")
    func savepoints() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let results = gather(
            store,
            [
                Body { (transaction) throws(Failure) in
                    try transaction.tasks.enqueue([(.numbered(1), .example)], in: session, now: 1).results.count
                },
                Body(Self.failing),
                Body { (transaction) throws(Failure) in
                    try transaction.tasks.enqueue([(.numbered(2), .example)], in: session, now: 1).results.count
                },
            ])
        #expect(results == [.success(1), .failure(Failure(.wrongState, "changed its mind")), .success(1)])
        store.close()
        let again = try TestStore(scratch.path)
        #expect(try again.tasks(of: session).count == 2)
        #expect(
            try again.run { try $0.sessions.infos(application: "org.example").map(\.identifier) } == ["gallery"])
    }

    @Test("reading the store writes no byte to the disk")
    func reads() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.enqueue((0..<100).map { .numbered($0) }, in: session)
        let before = logState()
        #expect(before[0] > 0)
        _ = try store.tasks(of: session, TaskSelection(states: TaskStates(.waiting)))
        _ = try store.events(of: session)
        _ = try store.info(session)
        try store.control(session, .resume)
        #expect(logState() == before)
        try store.control(session, .suspend)
        #expect(logState() != before)
    }

    @Test("the results of the store's calls come in the order of the calls")
    func order() throws {
        let store = try TestStore(scratch.path)
        let results = gather(store, (0..<500).map { number in Body { _ throws(Failure) in number } })
        #expect(results == (0..<500).map { .success($0) })
    }

    @Test("after the bodies of a transaction have read for some time, it ends, and its results are reported")
    func slowReads() throws {
        let store = try TestStore(scratch.path)
        let gate = Lock(false)
        let reported = Lock(0)
        let reportedBefore = Lock<[Int]>([])
        store.thread.perform(
            { _ throws(Failure) in _ = gate.wait(until: .after(milliseconds: 60_000)) { $0 ? true : nil } },
            then: { _ in })
        for _ in 0..<2 {
            store.thread.perform(
                { (_: Transaction) throws(Failure) -> Int in
                    let count = reported.withLock { $0 }
                    reportedBefore.change { $0.append(count) }
                    let end = Clock.bootMicroseconds + GroupCommit.readingMicrosecondsOfOneTransaction
                    while Clock.bootMicroseconds < end {}
                    return count
                }, then: { _ in reported.change { $0 += 1 } })
        }
        gate.change { $0 = true }
        #expect(reported.wait(until: .after(milliseconds: 60_000)) { $0 == 2 ? $0 : nil } == 2)
        #expect(reportedBefore.withLock { $0 } == [0, 1])
    }

    /// Posts a body that enqueues a task and may be delayed. Sets the lock's value when the body's result arrives.
    private func enqueueWithDelay(_ store: TestStore, in session: SessionID, _ isCommitted: Lock<Bool>) {
        store.thread.perform(
            { (transaction) throws(Failure) in
                try transaction.tasks.enqueue([(.numbered(1), .example)], in: session, now: 1).results.count
            }, mayBeDelayed: true,
            then: { result in
                let isStored = (try? result.get()) == 1
                isCommitted.change { $0 = isStored }
            })
    }

    @Test("a body that may be delayed runs before the next body, in the same transaction")
    func delayed() throws {
        let store = try TestStore(scratch.path, delayMilliseconds: 3_600_000)
        let session = try store.session()
        let isCommitted = Lock(false)
        enqueueWithDelay(store, in: session, isCommitted)
        // The next body sees the change of the delayed body, but the transaction of this change is not over.
        let (tasks, wasCommitted) = try store.run { transaction in
            (try transaction.sessions.info(of: session)?.info.liveTasks, isCommitted.withLock { $0 })
        }
        #expect(tasks == 1)
        #expect(!wasCommitted)
        #expect(isCommitted.withLock { $0 })
    }

    @Test("a body that may be delayed is committed after its delay, even without another body")
    func delayEnds() throws {
        let store = try TestStore(scratch.path, delayMilliseconds: 5)
        let isCommitted = Lock(false)
        enqueueWithDelay(store, in: try store.session(), isCommitted)
        #expect(isCommitted.wait(until: .after(milliseconds: 60_000)) { $0 ? true : nil } == true)
    }

    @Test("a store that closes commits the bodies that may be delayed")
    func delayedAtClose() throws {
        let store = try TestStore(scratch.path, delayMilliseconds: 3_600_000)
        let session = try store.session()
        let isCommitted = Lock(false)
        enqueueWithDelay(store, in: session, isCommitted)
        store.close()
        #expect(isCommitted.withLock { $0 })
        #expect(try TestStore(scratch.path).tasks(of: session).count == 1)
    }

    @Test("a call that does not fit into a full database fails; with more space, calls succeed again")
    func full() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.run { transaction in
            let pages = try transaction.connection.pragma("PRAGMA page_count") ?? "0"
            _ = try transaction.connection.pragma("PRAGMA max_page_count = \((Int(pages) ?? 0) + 8)")
        }
        let many = #expect(throws: Failure.self) {
            try store.enqueue((0..<4_000).map { .numbered($0) }, in: session)
        }
        #expect(many?.status == .storeFull)
        #expect(many?.domain == .sqlite)
        #expect(try store.tasks(of: session).isEmpty)
        try store.run { _ = try $0.connection.pragma("PRAGMA max_page_count = 1000000") }
        #expect(try store.enqueue((0..<4_000).map { .numbered($0) }, in: session).count == 4_000)
    }

    @Test("on a full disk, new enqueues fail and earlier tasks are kept", .enabled(if: Tmpfs.isAllowed))
    func fullDisk() throws {
        let disk = try #require(Tmpfs(at: scratch.path, size: "2m"))
        let store = try TestStore(scratch.path + "/store")
        let session = try store.session()
        var durable = 0
        let failure = #expect(throws: Failure.self) {
            while durable < 100_000 {
                let chunk = (durable..<durable + 100).map { Request.numbered($0) }
                try store.enqueue(chunk, in: session)
                durable += chunk.count
            }
        }
        #expect(failure?.status == .storeFull)
        #expect(durable > 0)
        #expect(try store.info(session)?.liveTasks == UInt64(durable))
        #expect(disk.grow(to: "16m"))
        try store.enqueue((durable..<durable + 100).map { .numbered($0) }, in: session)
        store.close()
        let again = try TestStore(scratch.path + "/store")
        #expect(try again.info(session)?.liveTasks == UInt64(durable + 100))
    }

    @Test("creating a store on a full disk fails with the status `storeFull`", .enabled(if: Tmpfs.isAllowed))
    func noRoom() throws {
        let disk = try #require(Tmpfs(at: scratch.path, size: "64k"))
        let filler = open(scratch.path + "/filler", O_WRONLY | O_CREAT, 0o600)
        let bytes = [UInt8](repeating: 1, count: 4_096)
        while write(filler, bytes, bytes.count) == bytes.count {}
        close(filler)
        let failure = #expect(throws: Failure.self) { try TestStore(scratch.path + "/store") }
        #expect(failure?.status == .storeFull)
        withExtendedLifetime(disk) {}
    }

    @Test("a store performs all earlier calls before it closes, and later calls fail")
    func closed() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let results = Lock<[Bool]>([])
        for number in 0..<20 {
            store.thread.perform(
                { (transaction) throws(Failure) in
                    try transaction.tasks.enqueue([(.numbered(number), .example)], in: session, now: 1).results.count
                }, then: { result in results.change { $0.append((try? result.get()) == 1) } })
        }
        store.close()
        #expect(results.withLock { $0 } == [Bool](repeating: true, count: 20))
        #expect(#expect(throws: Failure.self) { try store.session() }?.status == .engineFailed)
        store.close()
        #expect(access(scratch.path + "/" + Schema.fileName + "-wal", F_OK) != 0)
        #expect(try TestStore(scratch.path).tasks(of: session).count == 20)
    }

    private func databaseSize() -> Int {
        var status = stat()
        stat(scratch.path + "/" + Schema.fileName, &status)
        return Int(status.st_size)
    }

    /// Enqueues tasks whose rows have 60,000 bytes each.
    private func enqueueLarge(_ numbers: Range<Int>, in session: SessionID, _ store: TestStore) throws {
        let data = [UInt8](repeating: 1, count: 60_000)
        try store.enqueue(numbers.map { .numbered($0) { $0.userData = data } }, in: session)
    }

    @Test("the log is moved into the database only after the log has grown to a certain size")
    func checkpoint() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try enqueueLarge(0..<10, in: session, store)
        #expect(databaseSize() < 512 << 10)
        for part in 1...10 { try enqueueLarge(part * 20..<(part + 1) * 20, in: session, store) }
        // The last result is returned before the log is moved, and the next call waits for the move.
        _ = try store.info(session)
        #expect(databaseSize() > 8 << 20)
        #expect(logState()[0] < 12 << 20)
    }

    @Test("while no call waits, a short log is moved into the database, too")
    func idleCheckpoint() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try enqueueLarge(0..<30, in: session, store)
        let limit = Deadline.after(milliseconds: 60_000)
        while databaseSize() < 1 << 20, !limit.hasPassed { usleep(10_000) }
        #expect(databaseSize() > 1 << 20)
        #expect(try store.info(session)?.liveTasks == 30)
    }

    @Test("if the disk fails while the log is moved into the database, the next call fails and ends the store's use")
    func failedCheckpoint() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let writes = FailingWrites(to: scratch.path + "/" + Schema.fileName, EIO)
        let failure = #expect(throws: Failure.self) {
            for part in 0..<20 { try enqueueLarge(part * 20..<(part + 1) * 20, in: session, store) }
        }
        #expect(writes.count == 1)
        #expect(failure?.status == .engineFailed)
        #expect(failure?.endsStore == true)
    }

    @Test("if the disk is too full to move the log into the database, the log must grow before the next try")
    func checkpointOnFullDisk() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let writes = FailingWrites(to: scratch.path + "/" + Schema.fileName, ENOSPC)
        var part = 0
        func enqueuePart() throws {
            try enqueueLarge(part * 20..<(part + 1) * 20, in: session, store)
            part += 1
            // This call waits for the move.
            _ = try store.info(session)
        }
        while writes.count == 0, part < 20 { try enqueuePart() }
        #expect(writes.count == 1)
        for _ in 0..<5 { try enqueuePart() }
        #expect(writes.count == 1)
        for _ in 0..<5 { try enqueuePart() }
        #expect(writes.count == 2)
    }
}

/// Lets each write of SQLite to one file fail, as long as this object lives (see `FailingReads`).
private final class FailingWrites {
    private typealias Call = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int
    private static let state = Lock((inode: ino_t(0), code: Int32(0), count: 0))

    /// The number of failed writes.
    var count: Int { Self.state.withLock { $0.count } }

    init(to path: String, _ code: Int32) {
        var status = stat()
        stat(path, &status)
        let inode = status.st_ino
        Self.state.change { $0 = (inode, code, 0) }
        let call: Call = { file, bytes, count, place in
            var status = stat()
            fstat(file, &status)
            let inode = status.st_ino
            let code = FailingWrites.state.withLock { state -> Int32? in
                guard state.inode == inode else { return nil }
                state.count += 1
                return state.code
            }
            guard let code else { return pwrite(file, bytes, count, place) }
            errno = code
            return -1
        }
        set(unsafeBitCast(call, to: sqlite3_syscall_ptr.self))
    }

    deinit { set(nil) }

    /// Replaces the call; nil: SQLite uses its own again.
    private func set(_ call: sqlite3_syscall_ptr?) {
        guard let vfs = sqlite3_vfs_find("unix") else { return }
        for function in ["pwrite", "pwrite64"] { _ = vfs.pointee.xSetSystemCall(vfs, function, call) }
    }
}

/// A small file system in memory, which is mounted until the object is released.
final class Tmpfs {
    private let path: String

    static let isAllowed: Bool = {
        let scratch = Scratch()
        return Tmpfs(at: scratch.path, size: "64k") != nil
    }()

    init?(at path: String, size: String) {
        self.path = path
        guard mount("none", path, "tmpfs", 0, "size=\(size)") == 0 else { return nil }
    }

    func grow(to size: String) -> Bool { mount("none", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0 }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
