import BackhaulModel
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

@Suite("A disk that cannot read, and a lack of memory, are no damage")
struct FailedReadTests {
    let scratch = Scratch()
    private var file: String { scratch.path + "/" + Schema.fileName }

    @Test(
        "while a store opens, each of its reads fails once, and the next engine finds all", arguments: Writer.allCases)
    func failedReads(writer: Writer) throws {
        let filled = try FilledStore(tasks: 8)
        let (bytes, log) = try files(of: filled, writer)
        for number in 1..<1_000 {
            try FilledStore.write(bytes, to: scratch.path)
            if !log.isEmpty { try FilledStore.write(log, to: scratch.path, as: Schema.walName) }
            let reads = FailingReads(number)
            let failure = try open()
            guard reads.hasFailed else { return #expect(failure == nil && number > 5) }
            #expect(failure == nil || failure?.status == .engineFailed, "read \(number): \(failure?.message ?? "")")
            let store = try TestStore(scratch.path)
            #expect(try filled.contents(of: store) == filled.expected)
            #expect(try store.run { $0.connection.hasChecksums }, "read \(number)")
            store.close()
        }
        Issue.record("a store needs more than 1,000 reads to open")
    }

    @Test("a store that is opened with too little memory is not taken for damaged", arguments: Writer.allCases)
    func lackOfMemory(writer: Writer) throws {
        let filled = try FilledStore(tasks: 8)
        let (bytes, log) = try files(of: filled, writer)
        var failures = 0
        for size in stride(from: Int64(4096), to: 1 << 24, by: 4096) {
            try FilledStore.write(bytes, to: scratch.path)
            if !log.isEmpty { try FilledStore.write(log, to: scratch.path, as: Schema.walName) }
            sqlite3_hard_heap_limit64(sqlite3_memory_used() + size)
            defer { sqlite3_hard_heap_limit64(0) }
            guard let failure = try open() else { return #expect(failures > 5) }
            #expect(failure.status == .outOfResources, "\(size) bytes: \(failure.message)")
            failures += 1
        }
        Issue.record("a store needs more than 16 MiB to open")
    }

    /// Which SQLite has written the files.
    enum Writer: CaseIterable { case library, otherProgram, otherProgramWithLog }

    /// Opens and closes the store. Returns the failure.
    private func open() throws -> Failure? {
        do {
            try TestStore(scratch.path).close()
            return nil
        } catch let failure as Failure {
            return failure
        }
    }

    /// Returns the database and the log.
    private func files(of filled: FilledStore, _ writer: Writer) throws -> ([UInt8], [UInt8]) {
        switch writer {
        case .library: (filled.bytes, [])
        case .otherProgram: try foreignFiles(of: filled, hasLog: false)
        case .otherProgramWithLog: try foreignFiles(of: filled, hasLog: true)
        }
    }

    /// Returns the database and the log of another program. The log is empty, or has changes of this program.
    private func foreignFiles(of filled: FilledStore, hasLog: Bool) throws -> ([UInt8], [UInt8]) {
        try filled.makeCopy(in: scratch.path)
        guard hasLog else { return (FilledStore.file(file), []) }
        let change = ["PRAGMA journal_mode = WAL", "UPDATE tasks SET id = id", "UPDATE events SET id = id"]
        return try withPlainSQLite(file, change) {
            (FilledStore.file(file), FilledStore.file(scratch.path + "/" + Schema.walName))
        }
    }
}

/// Lets one read of SQLite fail with EIO, as long as this object lives. SQLite has a table of system calls for such
/// tests (https://www.sqlite.org/c3ref/vfs.html, xSetSystemCall).
private final class FailingReads {
    private typealias Call = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int
    // Unsafe: the tests of a process run one after the other.
    private nonisolated(unsafe) static var left = 0

    var hasFailed: Bool { Self.left <= 0 }

    init(_ number: Int) {
        Self.left = number
        let call: Call = { file, bytes, count, place in
            FailingReads.left -= 1
            guard FailingReads.left != 0 else {
                errno = EIO
                return -1
            }
            return pread(file, bytes, count, place)
        }
        set(unsafeBitCast(call, to: sqlite3_syscall_ptr.self))
    }

    deinit { set(nil) }

    /// Replaces the call; nil: SQLite uses its own again.
    private func set(_ call: sqlite3_syscall_ptr?) {
        guard let vfs = sqlite3_vfs_find("unix") else { return }
        for function in ["pread", "pread64"] { _ = vfs.pointee.xSetSystemCall(vfs, function, call) }
    }
}
