internal import CSQLite

/// Joins the writes to SQLite's write-ahead log (the *log*). A `LogFile` is a file of a VFS.
///
/// For each page of a commit, SQLite makes two writes: the frame's header and the page. The places of these writes
/// follow each other. `LogFile` buffers such writes, and passes them to the file as one write, at the latest before the
/// next sync. So a sync makes the same bytes durable as without the buffer. If the joined write fails, the sync fails
/// with the same code, and SQLite does not commit the transaction.
struct LogFile: InterceptedFile {
    /// The size of the buffer, in bytes.
    static let limit = 64 << 10
    /// SQLITE_IOERR_WRITE. Swift does not import this macro.
    static let writeFailure = SQLITE_IOERR | 3 << 8

    // Unsafe: `InterceptedFile` says where this struct is. Only one thread at a time uses a file.
    private let methods: sqlite3_io_methods
    private let original: UnsafePointer<sqlite3_io_methods>
    /// The bytes that are not in the file yet.
    private var buffer: [UInt8] = []
    /// The place of the first buffered byte in the file.
    private var start: Int64 = 0
    var readFailure = SQLITE_OK

    /// Replaces the methods of a file that the original VFS has just opened.
    static func install(in file: File) {
        guard let original = file.pointee.pMethods else { return }
        var methods = original.pointee
        methods.xWrite = { LogFile.write($0, $1, $2, $3) }
        methods.xRead = { LogFile.read($0, $1, $2, $3) }
        methods.xSync = { file, flags in LogFile.flush(file) { $0.pointee.xSync(file, flags) } }
        methods.xTruncate = { file, size in LogFile.flush(file) { $0.pointee.xTruncate(file, size) } }
        methods.xFileSize = { file, size in LogFile.flush(file) { $0.pointee.xFileSize(file, size) } }
        methods.xClose = { LogFile.close($0) }
        install(LogFile(methods: methods, original: original), in: file)
    }

    private static func write(_ file: File?, _ start: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        // Unsafe: the file and the bytes are SQLite's, and are used only during this call.
        guard let file, let start, let state = of(file) else { return SQLITE_IOERR }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(count))
        let code = state.pointee.makeRoom(for: bytes.count, at: offset, of: file)
        guard code == SQLITE_OK else { return code }
        guard bytes.count <= limit else { return state.pointee.original.pointee.xWrite(file, start, count, offset) }
        state.pointee.append(bytes, at: offset)
        return SQLITE_OK
    }

    /// Reads bytes from the buffer or from the file. A write fails if the disk is full, but SQLite does not expect this
    /// error of a read: it would undo only a statement, and later commit pages that the failed write has dropped. So
    /// most reads do not flush the buffer. SQLite reads bytes on both sides of the buffer's edge only when it computes
    /// the checksums of a commit again. After an I/O error, it always undoes the whole transaction.
    private static func read(
        _ file: File?, _ room: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        // Unsafe: the file and the room are SQLite's, and are used only during this call.
        guard let file, let room, let state = of(file) else { return SQLITE_IOERR }
        let place = offset..<offset + Int64(count)
        let buffered = state.pointee.start..<state.pointee.start + Int64(state.pointee.buffer.count)
        if place.overlaps(buffered) {
            if place.clamped(to: buffered) == place {
                state.pointee.copy(place, to: room)
                return SQLITE_OK
            }
            guard state.pointee.flush(to: file) == SQLITE_OK else { return writeFailure }
        }
        return state.pointee.recordRead(state.pointee.original.pointee.xRead(file, room, count, offset))
    }

    private func copy(_ place: Range<Int64>, to room: UnsafeMutableRawPointer) {
        let first = Int(place.lowerBound - start)
        buffer[first..<first + place.count].withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyMemory(from: bytes)
        }
    }

    /// Frees the memory of an empty buffer.
    static func releaseMemory(of file: File) {
        guard let state = of(file), state.pointee.buffer.isEmpty else { return }
        state.pointee.buffer = []
    }

    /// Writes the buffered bytes to the file, unless `count` bytes at `offset` can be appended to them.
    private mutating func makeRoom(for count: Int, at offset: Int64, of file: File) -> Int32 {
        let follows = offset == start + Int64(buffer.count)
        return follows && buffer.count + count <= Self.limit ? SQLITE_OK : flush(to: file)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if buffer.isEmpty {
            start = offset
            buffer.reserveCapacity(Self.limit)
        }
        buffer.append(contentsOf: bytes)
    }

    /// Writes the buffered bytes to the file. After a failure they are dropped, because SQLite then rolls the
    /// transaction back, and does not use the log behind the last commit.
    private mutating func flush(to file: File) -> Int32 {
        guard !buffer.isEmpty else { return SQLITE_OK }
        defer { buffer.removeAll(keepingCapacity: true) }
        return buffer.withUnsafeBytes { original.pointee.xWrite(file, $0.baseAddress, Int32($0.count), start) }
    }

    /// Writes the buffered bytes to the file, and then calls a method of the original VFS.
    private static func flush(_ file: File?, thenCall method: (UnsafePointer<sqlite3_io_methods>) -> Int32) -> Int32 {
        guard let file, let state = of(file) else { return SQLITE_IOERR }
        let code = state.pointee.flush(to: file)
        return code == SQLITE_OK ? method(state.pointee.original) : code
    }

    /// Closes the file, also after a failed write of the buffered bytes. The buffer has no bytes of committed
    /// transactions.
    private static func close(_ file: File?) -> Int32 {
        guard let file, let state = of(file) else { return SQLITE_IOERR }
        let original = state.pointee.original
        let code = state.pointee.flush(to: file)
        // Unsafe: SQLite does not call the methods of a closed file, and frees its memory.
        state.deinitialize(count: 1)
        let closed = original.pointee.xClose(file)
        return closed == SQLITE_OK ? code : closed
    }
}
