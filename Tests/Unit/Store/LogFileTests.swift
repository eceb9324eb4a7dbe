import BackhaulPlatform
import CSQLite
import Testing

@testable import BackhaulStore

/// `LogFile` joins the writes to SQLite's write-ahead log. These tests use it with a file that only records the calls.
@Suite("Writes to SQLite's log", .serialized)
struct LogFileTests {
    @Test("writes that follow each other reach the file as one write, before the sync")
    func joined() {
        let file = RecordedFile()
        #expect(file.write([1, 2], at: 100) == SQLITE_OK)
        #expect(file.write([3], at: 102) == SQLITE_OK)
        #expect(file.calls == [])
        #expect(file.sync() == SQLITE_OK)
        #expect(file.calls == [.write([1, 2, 3], at: 100), .sync])
        #expect(file.sync() == SQLITE_OK)
        #expect(file.calls == [.write([1, 2, 3], at: 100), .sync, .sync])
    }

    @Test("a write at another place leaves the order of the writes unchanged")
    func otherPlace() {
        let file = RecordedFile()
        #expect(file.write([1], at: 100) == SQLITE_OK)
        #expect(file.write([2], at: 100) == SQLITE_OK)
        #expect(file.write([3], at: 0) == SQLITE_OK)
        #expect(file.sync() == SQLITE_OK)
        #expect(file.calls == [.write([1], at: 100), .write([2], at: 100), .write([3], at: 0), .sync])
    }

    @Test("a read of buffered bytes returns these bytes, and a read of other bytes does not write the buffer")
    func reads() {
        let file = RecordedFile()
        var bytes: [UInt8] = [0, 0]
        #expect(file.write([1, 2, 3], at: 100) == SQLITE_OK)
        #expect(file.methods.xRead(file.file, &bytes, 2, 101) == SQLITE_OK)
        #expect(bytes == [2, 3])
        #expect(file.methods.xRead(file.file, &bytes, 2, 98) == SQLITE_OK)
        #expect(file.methods.xRead(file.file, &bytes, 2, 103) == SQLITE_OK)
        #expect(file.calls == [.read, .read])
    }

    @Test("a read across the edge of the buffer first writes the buffer, and fails with an I/O error if this fails")
    func readsAcrossTheEdge() {
        let file = RecordedFile()
        var bytes: [UInt8] = [0, 0]
        #expect(file.write([1], at: 100) == SQLITE_OK)
        #expect(file.methods.xRead(file.file, &bytes, 2, 99) == SQLITE_OK)
        #expect(file.calls == [.write([1], at: 100), .read])
        #expect(file.write([2], at: 101) == SQLITE_OK)
        RecordedFile.log.withLock { $0.writeCode = SQLITE_FULL }
        #expect(file.methods.xRead(file.file, &bytes, 2, 101) == LogFile.writeFailure)
        #expect(file.calls == [.write([1], at: 100), .read, .write([2], at: 101)])
    }

    @Test("a truncation, a question for the size and the close come after the earlier writes")
    func order() {
        let file = RecordedFile()
        var number: Int64 = 0
        #expect(file.write([1, 2], at: 0) == SQLITE_OK)
        #expect(file.methods.xTruncate(file.file, 1) == SQLITE_OK)
        #expect(file.write([3], at: 2) == SQLITE_OK)
        #expect(file.methods.xFileSize(file.file, &number) == SQLITE_OK)
        #expect(file.write([4], at: 3) == SQLITE_OK)
        #expect(file.close() == SQLITE_OK)
        #expect(
            file.calls == [
                .write([1, 2], at: 0), .truncate, .write([3], at: 2), .size, .write([4], at: 3), .close,
            ])
    }

    @Test("if the joined write fails, the sync fails with the same code, and the bytes are dropped")
    func failure() {
        let file = RecordedFile()
        #expect(file.write([1], at: 0) == SQLITE_OK)
        RecordedFile.log.withLock { $0.writeCode = SQLITE_FULL }
        #expect(file.sync() == SQLITE_FULL)
        #expect(file.calls == [.write([1], at: 0)])
        RecordedFile.log.withLock { $0.writeCode = SQLITE_OK }
        #expect(file.write([2], at: 0) == SQLITE_OK)
        #expect(file.sync() == SQLITE_OK)
        #expect(file.calls == [.write([1], at: 0), .write([2], at: 0), .sync])
    }

    @Test("at most 64 KiB are kept in memory, and a larger write is passed on at once")
    func limit() {
        let file = RecordedFile()
        let half = [UInt8](repeating: 7, count: LogFile.limit / 2)
        for place in 0..<3 { #expect(file.write(half, at: Int64(place * half.count)) == SQLITE_OK) }
        #expect(file.calls == [.write(half + half, at: 0)])
        let large = [UInt8](repeating: 8, count: LogFile.limit + 1)
        #expect(file.write(large, at: Int64(3 * half.count)) == SQLITE_OK)
        let third = Call.write(half, at: Int64(2 * half.count))
        #expect(file.calls == [.write(half + half, at: 0), third, .write(large, at: Int64(3 * half.count))])
    }
}

private enum Call: Equatable, Sendable {
    case write([UInt8], at: Int64)
    case read, sync, truncate, size, close
}

/// A file of SQLite whose original methods only record the calls. The methods are C functions, so the record is global.
/// Each file clears it.
private final class RecordedFile {
    struct Log: Sendable {
        var calls: [Call] = []
        var writeCode = SQLITE_OK
    }

    static let log = Lock(Log())

    // Unsafe: the memory belongs to this object. It is as large as SQLite's memory of an open file.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(LogFile.size), alignment: 16)
    private let original = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    let file: UnsafeMutablePointer<sqlite3_file>
    private var isOpen = true

    init() {
        Self.log.withLock { $0 = Log() }
        file = memory.initializeMemory(as: sqlite3_file.self, repeating: sqlite3_file(), count: 1)
        original.initialize(to: sqlite3_io_methods())
        original.pointee.xWrite = { _, bytes, count, offset in
            let written = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return RecordedFile.log.withLock { log in
                log.calls.append(.write(written, at: offset))
                return log.writeCode
            }
        }
        original.pointee.xRead = { _, _, _, _ in RecordedFile.note(.read) }
        original.pointee.xSync = { _, _ in RecordedFile.note(.sync) }
        original.pointee.xTruncate = { _, _ in RecordedFile.note(.truncate) }
        original.pointee.xFileSize = { _, _ in RecordedFile.note(.size) }
        original.pointee.xClose = { _ in RecordedFile.note(.close) }
        file.pointee.pMethods = UnsafePointer(original)
        LogFile.install(in: file)
    }

    deinit {
        if isOpen { _ = close() }
        original.deallocate()
        memory.deallocate()
    }

    fileprivate static func note(_ call: Call) -> Int32 {
        log.withLock { log in
            log.calls.append(call)
            return SQLITE_OK
        }
    }

    var calls: [Call] { Self.log.withLock { $0.calls } }
    var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

    func write(_ bytes: [UInt8], at offset: Int64) -> Int32 {
        methods.xWrite(file, bytes, Int32(bytes.count), offset)
    }

    func sync() -> Int32 { methods.xSync(file, SQLITE_SYNC_NORMAL) }

    func close() -> Int32 {
        isOpen = false
        return methods.xClose(file)
    }
}
