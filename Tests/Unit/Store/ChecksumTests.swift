import BackhaulModel
import BackhaulPlatform
import CSQLite
import Glibc
import TestSupport
import Testing

@testable import BackhaulStore

@Suite("Checksums of pages")
struct ChecksumTests {
    let scratch = Scratch()

    @Test("damage to 64 random bytes of the database is reported or has no effect", arguments: 0..<200)
    func randomBytes(round: Int) throws {
        let filled = try FilledStore.shared.get()
        var random = SeededGenerator(seed: UInt64(round))
        var bytes = filled.bytes
        for _ in 0..<64 { bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random) }
        try filled.expectContentsOrDamage(bytes, at: scratch.path)
    }

    @Test("if one bit in a page changes, the damage is reported or has no effect")
    func oneBitOfEachPage() throws {
        let filled = try FilledStore.shared.get()
        var random = SeededGenerator(seed: 1)
        for page in stride(from: 0, to: filled.bytes.count, by: FilledStore.pageSize)
        where Slice.includes(oneIn: 3, using: &random) {
            var bytes = filled.bytes
            let place = page + Int.random(in: 0..<FilledStore.pageSize, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try filled.expectContentsOrDamage(bytes, at: "\(scratch.path)/\(page)")
        }
    }

    @Test("a changed byte in the database's header or in the first page's checksum is reported")
    func firstPage() throws {
        let filled = try FilledStore.shared.get()
        for place in Array(0..<100) + Array(FilledStore.pageSize - 8..<FilledStore.pageSize) {
            var bytes = filled.bytes
            bytes[place] ^= 0x10
            let path = "\(scratch.path)/\(place)"
            try FilledStore.write(bytes, to: path)
            let failure = #expect(throws: Failure.self, "byte \(place)") { try TestStore(path) }
            #expect(failure?.status == .storeDamaged)
        }
    }

    @Test("if a page is overwritten with the next page, the damage is reported or has no effect")
    func replacedByNext() throws {
        let filled = try FilledStore.shared.get()
        let size = FilledStore.pageSize
        let count = filled.bytes.count / size
        var random = SeededGenerator(seed: 2)
        for page in 1..<count - 1 where Slice.includes(oneIn: 3, using: &random) {
            var bytes = filled.bytes
            bytes.replaceSubrange(page * size..<(page + 1) * size, with: bytes[(page + 1) * size..<(page + 2) * size])
            try filled.expectContentsOrDamage(bytes, at: "\(scratch.path)/\(page)")
        }
    }

    @Test("if two pages exchange their places, the damage is reported or has no effect", arguments: [1, 7])
    func exchanged(distance: Int) throws {
        let filled = try FilledStore.shared.get()
        let size = FilledStore.pageSize
        for page in stride(from: 0, to: filled.bytes.count / size - distance, by: distance + 1) {
            let first = page * size..<(page + 1) * size
            let second = (page + distance) * size..<(page + distance + 1) * size
            var bytes = filled.bytes
            bytes.replaceSubrange(first, with: filled.bytes[second])
            bytes.replaceSubrange(second, with: filled.bytes[first])
            try filled.expectContentsOrDamage(bytes, at: "\(scratch.path)/\(page)")
        }
    }

    @Test("the failure for a damaged page names the page's number and a remedy, and later calls also fail")
    func message() throws {
        let filled = try FilledStore.shared.get()
        var bytes = filled.bytes
        // Damages all pages except the first hundred pages, because an engine reads some of these when it starts.
        for page in stride(from: 100 * FilledStore.pageSize, to: bytes.count, by: FilledStore.pageSize) {
            bytes[page + 2_000] ^= 1
        }
        try FilledStore.write(bytes, to: scratch.path)
        let store = try TestStore(scratch.path)
        let failure = #expect(throws: Failure.self) { try filled.contents(of: store) }
        #expect(failure?.status == .storeDamaged && failure?.endsStore == true)
        #expect(failure?.message.contains(/its page \d+ does not match/) == true)
        #expect(failure?.message.contains("does not match its checksum); put back a copy") == true)
        #expect(#expect(throws: Failure.self) { try store.run { _ throws(Failure) in 1 } } == failure)
    }
}

@Suite("The log of a killed engine")
struct WALCheckTests {
    let scratch = Scratch()

    /// Returns the path of a store whose tasks are only in the log.
    private func killedStore(tasks: Int) async -> String {
        let path = scratch.path + "/killed"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, tasks = tasks as Int] in
            let store = try TestStore(path)
            let session = try store.session()
            for number in 0..<tasks { try store.enqueue([.numbered(number)], in: session) }
            kill(getpid(), SIGKILL)
        }
        return path
    }

    @Test("a log that cannot be opened, because no descriptor is free, is not skipped")
    func noDescriptor() async throws {
        let directory = try StoreDirectory.open(path: await killedStore(tasks: 2))
        let failure = #expect(throws: Failure.self) {
            try withoutFreeDescriptors { try WALCheck.refuseDamage(directory) }
        }
        #expect(failure?.status == .outOfResources)
    }

    @Test("a changed byte in the log is reported, or only the last transaction is lost")
    func changedByte() async throws {
        let path = await killedStore(tasks: 20)
        let database = FilledStore.file(path + "/" + Schema.fileName)
        let log = FilledStore.file(path + "/" + Schema.walName)
        var random = SeededGenerator(seed: 7)
        var reports = 0
        // The test changes each byte of the log's header. In each fourth frame, it changes one byte of the frame's
        // header and one byte of the frame's page.
        let frame = 24 + FilledStore.pageSize
        let places =
            Array(0..<32)
            + stride(from: 32, to: log.count, by: 4 * frame).flatMap {
                [$0 + .random(in: 0..<24, using: &random), $0 + .random(in: 24..<frame, using: &random)]
            }
        // The header of a frame that ends a transaction has the size of the database. SQLite may repeat such a frame.
        let starts = Array(stride(from: 32, to: log.count, by: frame))
        let isEnd = starts.map { start in log[start + 4..<start + 8].contains { $0 != 0 } }
        let last = try #require(isEnd.lastIndex(of: false))
        let lastTransaction = starts[(isEnd[..<last].lastIndex(of: true) ?? -1) + 1]
        for place in places where place < log.count {
            var bytes = log
            bytes[place] ^= 4
            let copy = "\(scratch.path)/\(place)"
            try FilledStore.write(database, to: copy)
            try FilledStore.write(bytes, to: copy, as: Schema.walName)
            do {
                let store = try TestStore(copy)
                let tasks = try store.tasks(of: SessionID(rawValue: 1)).count
                #expect(
                    tasks == 20 || tasks == 19 && place >= lastTransaction,
                    "\(tasks) tasks, byte \(place) of \(log.count)")
            } catch let failure as Failure {
                #expect(failure.status == .storeDamaged, "byte \(place)")
                reports += 1
            }
        }
        #expect(reports > places.count / 2)
    }

    @Test("if the log is cut within its last transaction, the store opens and lacks only that transaction")
    func cut() async throws {
        let path = await killedStore(tasks: 3)
        let log = path + "/" + Schema.walName
        #expect(truncate(log, off_t(FilledStore.file(log).count - 100)) == 0)
        #expect(try TestStore(path).tasks(of: SessionID(rawValue: 1)).count == 2)
    }
}

/// A closed store with 300 tasks (downloads). Half of the tasks have ended.
struct FilledStore {
    static let pageSize = Schema.pageSize
    static let shared = Result { try FilledStore() }

    let session: SessionID
    /// The bytes of the database file.
    let bytes: [UInt8]
    let expected: [String]

    init(tasks count: Int = 300) throws {
        let scratch = Scratch()
        let store = try TestStore(scratch.path)
        session = try store.session()
        let tasks = try store.enqueue((0..<count).map { .numbered($0) }, in: session)
        for task in tasks[..<(count / 2)] { try store.end(task) }
        expected = try Self.contents(of: store, session)
        store.close()
        bytes = Self.file(scratch.path + "/" + Schema.fileName)
    }

    static func file(_ path: String) -> [UInt8] {
        let number = open(path, O_RDONLY)
        defer { close(number) }
        var status = stat()
        fstat(number, &status)
        var bytes = [UInt8](repeating: 0, count: max(0, Int(status.st_size)))
        #expect(read(number, &bytes, bytes.count) == bytes.count)
        return bytes
    }

    func contents(of store: TestStore) throws -> [String] { try Self.contents(of: store, session) }

    private static func contents(of store: TestStore, _ session: SessionID) throws -> [String] {
        let tasks = try store.tasks(of: session).map { "\($0.id) \($0.state) \($0.url)" }
        return try tasks + store.events(of: session).map { "\($0.id) \($0.kind)" }
    }

    /// Writes the bytes as a file of a store.
    static func write(_ bytes: [UInt8], to path: String, as name: String = Schema.fileName) throws {
        mkdir(path, 0o700)
        let number = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(number) }
        #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
    }

    func expectContentsOrDamage(_ bytes: [UInt8], at path: String) throws {
        try Self.write(bytes, to: path)
        do {
            let found = try contents(of: TestStore(path))
            #expect(found == expected)
        } catch let failure as Failure {
            #expect(failure.status == .storeDamaged, "\(failure)")
        }
    }
}
