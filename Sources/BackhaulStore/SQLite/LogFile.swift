internal import CSQLite

/// Joins the writes to SQLite's write-ahead log (the *log*). It is a file of a VFS, which is SQLite's interface to the
/// file system.
///
/// For each page of a commit, SQLite makes two writes: the frame's header and the page. The places of these writes
/// follow each other. `LogFile` keeps such writes in memory, and passes them to the file as one write. It does this
/// before any other use of the file, above all before each sync. So a sync makes the same bytes durable as without this
/// buffer. If the joined write fails, the sync fails with the same code, and SQLite does not commit the transaction.
struct LogFile: InterceptedFile {
    /// The most bytes that are kept in memory.
    static let limit = 64 << 10

    // Unsafe: `InterceptedFile` says where this struct is. Only one thread at a time uses a file.
    private let methods: sqlite3_io_methods
    private let original: UnsafePointer<sqlite3_io_methods>
    /// The bytes that are not in the file yet.
    private var kept: [UInt8] = []
    /// The place of the first kept byte in the file.
    private var start: Int64 = 0

    /// Replaces the methods of a file that the original VFS has just opened.
    static func install(in file: File) {
        guard let original = file.pointee.pMethods else { return }
        var methods = original.pointee
        methods.xWrite = { LogFile.write($0, $1, $2, $3) }
        methods.xRead = { file, buffer, count, offset in
            LogFile.afterKept(file) { $0.pointee.xRead(file, buffer, count, offset) }
        }
        methods.xSync = { file, flags in LogFile.afterKept(file) { $0.pointee.xSync(file, flags) } }
        methods.xTruncate = { file, size in LogFile.afterKept(file) { $0.pointee.xTruncate(file, size) } }
        methods.xFileSize = { file, size in LogFile.afterKept(file) { $0.pointee.xFileSize(file, size) } }
        methods.xClose = { LogFile.close($0) }
        install(LogFile(methods: methods, original: original), in: file)
    }

    private static func write(_ file: File?, _ buffer: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        // Unsafe: the file and the buffer are SQLite's, and are used only during this call.
        guard let file, let buffer, let state = of(file) else { return SQLITE_IOERR }
        let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
        let code = state.pointee.makeRoom(for: bytes.count, at: offset, of: file)
        guard code == SQLITE_OK else { return code }
        guard bytes.count <= limit else { return state.pointee.original.pointee.xWrite(file, buffer, count, offset) }
        state.pointee.keep(bytes, at: offset)
        return SQLITE_OK
    }

    /// Writes the kept bytes to the file, unless `count` further bytes at `offset` can be kept together with them.
    private mutating func makeRoom(for count: Int, at offset: Int64, of file: File) -> Int32 {
        let follows = offset == start + Int64(kept.count)
        return follows && kept.count + count <= Self.limit ? SQLITE_OK : writeKept(to: file)
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if kept.isEmpty {
            start = offset
            kept.reserveCapacity(Self.limit)
        }
        kept.append(contentsOf: bytes)
    }

    /// Writes the kept bytes to the file. After a failure they are dropped, because SQLite then rolls the transaction
    /// back, and does not use the log behind the last commit.
    private mutating func writeKept(to file: File) -> Int32 {
        guard !kept.isEmpty else { return SQLITE_OK }
        defer { kept.removeAll(keepingCapacity: true) }
        return kept.withUnsafeBytes { original.pointee.xWrite(file, $0.baseAddress, Int32($0.count), start) }
    }

    /// Writes the kept bytes to the file, and then calls a method of the original VFS.
    private static func afterKept(
        _ file: File?, _ method: (UnsafePointer<sqlite3_io_methods>) -> Int32
    ) -> Int32 {
        guard let file, let state = of(file) else { return SQLITE_IOERR }
        let code = state.pointee.writeKept(to: file)
        return code == SQLITE_OK ? method(state.pointee.original) : code
    }

    /// Closes the file, also after a failed write of the kept bytes. A transaction that was committed has no kept
    /// bytes.
    private static func close(_ file: File?) -> Int32 {
        guard let file, let state = of(file) else { return SQLITE_IOERR }
        let original = state.pointee.original
        let code = state.pointee.writeKept(to: file)
        // Unsafe: SQLite does not call the methods of a closed file, and frees its memory.
        state.deinitialize(count: 1)
        let closed = original.pointee.xClose(file)
        return closed == SQLITE_OK ? code : closed
    }
}
