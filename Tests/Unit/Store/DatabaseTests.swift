import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

@Suite("The database")
struct DatabaseTests {
    let scratch = Scratch()
    private var file: String { scratch.path + "/" + Schema.fileName }

    private func makeStore(tasks: Int) throws -> SessionID {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.enqueue((0..<tasks).map { .numbered($0) }, in: session)
        store.close()
        return session
    }

    private func overwrite(at offset: Int, with bytes: [UInt8]) {
        let number = open(file, O_WRONLY)
        pwrite(number, bytes, bytes.count, offset)
        close(number)
    }

    private func refusal() -> Failure? { #expect(throws: Failure.self) { try TestStore(scratch.path) } }

    @Test("the database has the SQLite settings that keep its contents safe")
    func settings() throws {
        let store = try TestStore(scratch.path)
        let values = try store.run { transaction in
            var values: [String: String] = [:]
            for name in [
                "journal_mode", "synchronous", "locking_mode", "foreign_keys", "mmap_size", "temp_store",
                "trusted_schema", "application_id", "user_version",
            ] {
                values[name] = try transaction.connection.pragma("PRAGMA \(name)")
            }
            return values
        }
        #expect(
            values == [
                "journal_mode": "wal", "synchronous": "2", "locking_mode": "exclusive", "foreign_keys": "1",
                "mmap_size": "0", "temp_store": "2", "trusted_schema": "0",
                "application_id": "\(Schema.applicationID)", "user_version": "\(Schema.version())",
            ])
    }

    @Test("a database of another program is refused and not changed")
    func strangers() throws {
        let connection = try { () throws(Failure) in
            _ = try StoreDirectory.open(path: scratch.path).openFile(Schema.fileName)
            return try Connection(path: file, files: "unix")
        }()
        try connection.execute("CREATE TABLE mine (id INTEGER)")
        connection.close()
        let failure = refusal()
        #expect(failure?.status == .storeDamaged)
        #expect(failure?.message.contains("not a database of Backhaul") == true)
    }

    @Test("a database with a damaged header is reported as damaged")
    func damagedHeader() throws {
        _ = try makeStore(tasks: 10)
        overwrite(at: 0, with: Array("not a database at all".utf8))
        let failure = refusal()
        #expect(failure?.status == .storeDamaged)
        #expect(failure?.domain == .sqlite)
        #expect(failure?.message.contains("move the store's directory away") == true)
    }

    @Test("a new database has pages of 2 KiB, and a database with other pages keeps them")
    func pages() throws {
        func pageSize() -> Int {
            let header = FilledStore.file(file)
            return Int(header[16]) << 8 | Int(header[17])
        }
        let session = try makeStore(tasks: 10)
        #expect(pageSize() == 2_048)
        let shell = try Connection(path: file, files: "unix")
        try shell.execute("PRAGMA page_size = 4096; VACUUM")
        shell.close()
        #expect(pageSize() == 4_096)
        let store = try TestStore(scratch.path)
        #expect(try store.tasks(of: session).count == 10)
        try store.enqueue([.numbered(10)], in: session)
        store.close()
        #expect(pageSize() == 4_096)
    }

    @Test("a truncated database is reported as damaged")
    func truncated() throws {
        _ = try makeStore(tasks: 1_000)
        #expect(truncate(file, 20_000) == 0)
        #expect(refusal()?.status == .storeDamaged)
    }

    @Test("garbage in the middle of a database causes no crash, and is reported when it is read")
    func garbage() throws {
        let session = try makeStore(tasks: 5_000)
        var status = stat()
        stat(file, &status)
        let page = Schema.pageSize
        // The garbage begins after the first pages of all tables, because an engine reads these pages when it starts.
        for offset in stride(from: page * 100, to: Int(status.st_size) - page, by: page) {
            overwrite(at: offset, with: (0..<page).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ offset) })
        }
        let store = try TestStore(scratch.path)
        let failure = #expect(throws: Failure.self) {
            _ = try store.tasks(of: session)
            _ = try store.control(session, .cancel)
        }
        #expect(failure?.status == .storeDamaged)
        // After damage is found, each use of the store fails in the same way.
        #expect(#expect(throws: Failure.self) { try store.run { _ throws(Failure) in 1 } } == failure)
    }

    @Test("a database that is a symbolic link is refused")
    func link() throws {
        _ = try StoreDirectory.open(path: scratch.path)
        symlink("/etc/passwd", file)
        #expect(refusal()?.status == .storeUnavailable)
    }

    @Test("if another program has a database open, the database is refused")
    func busy() async throws {
        _ = try makeStore(tasks: 1)
        await #expect(processExitsWith: .success) { [path = scratch.path as String, file = file as String] in
            let shell = try Connection(path: file, files: "unix")
            try shell.execute("BEGIN IMMEDIATE; DELETE FROM applied")
            let failure = #expect(throws: Failure.self) { try TestStore(path) }
            #expect(failure?.status == .storeUnavailable)
            #expect(failure?.message.contains("another program") == true)
        }
    }

    @Test("when a connection releases memory, it frees all prepared statements and uses none of them again")
    func memoryGivenBack() async throws {
        await #expect(processExitsWith: .success) { [path = scratch.path as String, file = file as String] in
            _ = try StoreDirectory.open(path: path).openFile(Schema.fileName)
            let connection = try Connection(path: file, files: "unix")
            let queries = (0..<200).map { Query("SELECT \($0)") }
            for query in queries { try connection.run(query) }
            #expect(connection.preparedTexts.count == 200)
            // M_PERTURB of mallopt(3) fills freed memory with the byte 2. With this byte, SQLite marks a statement that
            // is in use. So a freed statement seems to be in use. If the connection used such a statement, `run` would
            // throw.
            typealias Option = @convention(c) (Int32, Int32) -> Int32
            let setOption = unsafeBitCast(try #require(dlsym(nil, "mallopt")), to: Option.self)
            _ = setOption(-6, 2)
            connection.releaseMemory()
            #expect(connection.preparedTexts.isEmpty)
            for query in queries { try connection.run(query) }
        }
    }

    @Test("an open database is locked for other programs, such as the shell of SQLite")
    func othersAreKeptOut() async throws {
        let session = try makeStore(tasks: 1)
        let store = try TestStore(scratch.path)
        try store.enqueue([.numbered(7)], in: session)
        await #expect(processExitsWith: .success) { [file = file as String] in
            let failure = #expect(throws: Failure.self) {
                try Connection(path: file, files: "unix").execute("SELECT count(*) FROM tasks")
            }
            #expect(failure?.message.contains("another program") == true)
        }
        #expect(try store.tasks(of: session).count == 2)
    }

    @Test("delays from an earlier boot are removed, because they use the clock of that boot")
    func otherBoot() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        let record = AttemptRecord(
            attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 0, nextAttempt: 77, reason: .retry)
        try store.run { try $0.attempts.record(id, record) }
        store.close()
        let same = try TestStore(scratch.path)
        #expect(try same.run { try $0.delays.nextDue() } == 77)
        try same.run { try $0.connection.execute("UPDATE meta SET value = 'another' WHERE key = 'boot_id'") }
        same.close()
        let other = try TestStore(scratch.path)
        #expect(try other.run { try $0.delays.nextDue() } == nil)
        #expect(try other.run { try $0.lanes.ready().count } == 1)
    }

    @Test("device numbers from an earlier boot are removed, and device numbers of this boot are kept")
    func otherDevices() throws {
        var store = try TestStore(scratch.path)
        let session = try store.session()
        func request(_ number: Int) -> Request {
            .numbered(number) {
                $0.destination = Destination(path: "/d/\(number)", directoryDevice: 7, directoryInode: 8)
            }
        }
        func device(of task: TaskID) throws -> UInt64? {
            try store.run { try $0.tasks.find(task) }?
                .task.request.destination?.directoryDevice
        }
        let before = try store.enqueue([request(1)], in: session)[0]
        let intent = FinishIntent(device: 7, inode: 9, size: 1)
        try store.run { transaction in
            _ = try transaction.attempts.recordIntent(
                before, intent, response: ResponseSummary(), attempts: 1, bytesReceived: 1)
            try transaction.connection.execute("UPDATE meta SET value = 'another' WHERE key = 'boot_id'")
        }
        #expect(try device(of: before) == 7)
        store.close()
        store = try TestStore(scratch.path)
        let after = try store.enqueue([request(2)], in: session)[0]
        #expect(try device(of: before) == 0)
        #expect(try device(of: after) == 7)
        let sealed = try store.run { try $0.tasks.withIntent() }
        #expect(sealed.map(\.intent) == [FinishIntent(device: 0, inode: 9, size: 1)])
    }
}
