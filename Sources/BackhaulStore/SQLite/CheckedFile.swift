internal import CLinux
internal import CSQLite
internal import Glibc

/// Stores and verifies a checksum in each page of the database. A `CheckedFile` is a file of a VFS, which is SQLite's
/// interface to the file system.
///
/// If the database's header reserves the last bytes of each page, SQLite does not use these bytes. `CheckedFile` stores
/// a CRC-32C there, computed from the page and the page's number. The checksum is computed when the page is written,
/// and verified when the page is read. SQLite itself sees zeros in these bytes. So the pages in SQLite's write-ahead
/// log (the *log*) also have zeros there. The log's frames have SQLite's own checksums.
///
/// Another program with SQLite may write to the database while no engine has it open. That program does not update the
/// checksums. The next engine detects this in the first page, in one of two ways. If the program copied the log into
/// the database, the checksum of the first page is zero. The reason is that each log contains the first page, with
/// zeros in place of the checksum (`Connection.commit`). If the program made a transaction, the change counter does not
/// match the first page's mark: the program has incremented the counter, and the mark still has the old value. The
/// program increments the counter with each transaction, because the stored header says that the database uses no log.
/// Such a database is not *trusted*: no page is verified until `Connection.restoreChecksums` has added all checksums.
struct CheckedFile: InterceptedFile {
    /// The number of bytes that the header reserves in each page: four for a mark, and four for the checksum. Only the
    /// first page has a mark, which is computed from SQLite's change counter. In other pages, the bytes for the mark
    /// are zero.
    static let reserve = 8
    /// SQLITE_IOERR_DATA. Swift does not import this macro.
    static let failure = SQLITE_IOERR | 32 << 8

    // Unsafe: `InterceptedFile` says where this struct is. Only one thread at a time uses a file.
    private let methods: sqlite3_io_methods
    private let original: UnsafePointer<sqlite3_io_methods>
    /// Whether the checksums in the file are trusted. False if another program with SQLite has written to the file, or
    /// if the file was made without checksums.
    private(set) var isTrusted = true
    /// Whether the header reserves the last bytes of each page. Also true for a new database that has no header yet,
    /// because SQLite may write other pages before the first page.
    private var hasReserve = false
    /// The number of the page whose checksum did not match in the last failed verification. Nil if no verification has
    /// failed.
    private(set) var damagedPage: Int64?
    var readFailure = SQLITE_OK

    var hasChecksums: Bool { isTrusted && hasReserve }
    var lacksChecksums: Bool { !isTrusted && hasReserve }
}

// MARK: In SQLite's memory of a file

extension CheckedFile {
    /// Replaces the methods of a file that the original VFS has just opened. Returns a result code of SQLite.
    static func install(in file: File) -> Int32 {
        guard let original = file.pointee.pMethods else { return SQLITE_IOERR }
        var methods = original.pointee
        // Version 1 of the methods has no shared memory and no mapped pages. Reads of mapped pages would skip the
        // verification.
        methods.iVersion = 1
        methods.xRead = { CheckedFile.read($0, $1, $2, $3) }
        methods.xWrite = { CheckedFile.write($0, $1, $2, $3) }
        return install(CheckedFile(methods: methods, original: original), in: file).pointee.readHeader(file)
    }
}

// MARK: Pages

/// A page of the database, in SQLite's buffer.
// Unsafe: the bytes are SQLite's buffer, which is used only during one call.
private struct Page {
    let bytes: UnsafeMutableRawBufferPointer
    let number: Int64

    /// Returns nil if the bytes are not a whole page: SQLite also reads parts of the header.
    init?(_ bytes: UnsafeMutableRawBufferPointer, offset: Int64) {
        guard bytes.count >= 512, bytes.count & (bytes.count - 1) == 0, offset % Int64(bytes.count) == 0 else {
            return nil
        }
        self.bytes = bytes
        number = offset / Int64(bytes.count) + 1
    }

    private var end: Int { bytes.count - CheckedFile.reserve }

    private func word(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    private func setWord(_ offset: Int, _ value: UInt32) {
        bytes.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    }

    private var sum: UInt32 {
        bhl_crc32c(UInt32(truncatingIfNeeded: number), bytes.baseAddress, bytes.count - 4)
    }

    /// Whether the checksum matches. A page of zeros is also valid. If SQLite allocates a page and frees it again,
    /// SQLite does not write the page. So the file may have a hole there.
    var isValid: Bool { word(end + 4) == sum && word(end) == mark || bytes.allSatisfy { $0 == 0 } }

    func seal() {
        setWord(end, mark)
        setWord(end + 4, sum)
    }

    func unseal() { bytes[end...].withMemoryRebound(to: UInt8.self) { $0.update(repeating: 0) } }

    // MARK: The first page

    /// SQLite's change counter. SQLite changes the counter when it writes the first page. Without a log, each
    /// transaction writes that page.
    private var changeCounter: UInt32 { word(24) }
    /// The value that the change counter had when SQLite last wrote its version number to the header.
    private var validFor: UInt32 { word(92) }

    /// The lower half of the change counter, and the same bits inverted. This mark is stored in the first page, before
    /// the checksum.
    private var mark: UInt32 {
        guard number == 1 else { return 0 }
        return changeCounter << 16 | ~changeCounter & 0xFFFF
    }

    /// Whether the page has the mark of its change counter. A page of any other file is very unlikely to have the same
    /// bytes there.
    var hasMark: Bool { word(end) == mark }

    /// Whether another program with SQLite wrote this first page. For a damaged page, the result is false.
    var isWrittenByOtherSQLite: Bool {
        let found = word(end)
        if found == 0, word(end + 4) == 0 { return true }
        return found >> 16 == ~found & 0xFFFF && found != mark && changeCounter == validFor
    }
}

/// The first bytes of the database (https://www.sqlite.org/fileformat.html#the_database_header).
// Unsafe: the bytes are SQLite's buffer, which is used only during one call.
private struct Header {
    static let size = 100
    private static let rollback: UInt8 = 1
    private static let log: UInt8 = 2
    let bytes: UnsafeMutableRawBufferPointer

    /// Returns nil if the bytes are not the beginning of a database.
    init?(_ bytes: UnsafeMutableRawBufferPointer, offset: Int64) {
        guard offset == 0, bytes.count >= Self.size, let start = bytes.baseAddress,
            memcmp(start, "SQLite format 3", 16) == 0
        else { return nil }
        self.bytes = bytes
    }

    var hasReserve: Bool { bytes[20] == UInt8(CheckedFile.reserve) }

    var pageSize: Int {
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        return size == 1 ? 65_536 : size
    }

    var isWAL: Bool { bytes[18] == Self.log }

    /// Sets the two versions of the file format, for writing and for reading.
    func setWAL(_ isWAL: Bool) {
        bytes[18] = isWAL ? Self.log : Self.rollback
        bytes[19] = bytes[18]
    }
}

// MARK: Pages of a repair

extension CheckedFile {
    /// Whether the checksum of a page in the form that it has on the disk matches.
    static func isValid(_ page: inout [UInt8], number: Int) -> Bool {
        page.withUnsafeMutableBytes { bytes in
            Page(bytes, offset: Int64((number - 1) * bytes.count))?.isValid ?? false
        }
    }

    /// Writes the size of the database into its first page.
    static func setPageCount(_ count: Int, inFirst page: inout [UInt8]) {
        page.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt32(clamping: count).bigEndian, toByteOffset: 28, as: UInt32.self)
            Page(bytes, offset: 0)?.seal()
        }
    }
}

// MARK: Reading and writing

extension CheckedFile {
    /// Reads the first page, and determines whether the file has checksums and whether they are valid. Returns a result
    /// code of SQLite.
    private mutating func readHeader(_ file: File) -> Int32 {
        // Unsafe: only this call uses the memory.
        var head = [UInt8](repeating: 0, count: Header.size)
        var code = recordRead(original.pointee.xRead(file, &head, Int32(head.count), 0))
        // A short read means that the file is empty, so a new database will be made. Each database that Backhaul makes
        // reserves the bytes (`Connection.reserveChecksums`).
        if code == Self.shortRead {
            hasReserve = true
            return SQLITE_OK
        }
        guard code == SQLITE_OK else { return code }
        let size = head.withUnsafeMutableBytes { bytes -> Int in
            let header = Header(bytes, offset: 0)
            hasReserve = header?.hasReserve ?? false
            return header?.pageSize ?? 0
        }
        var first = [UInt8](repeating: 0, count: size)
        code = recordRead(original.pointee.xRead(file, &first, Int32(size), 0))
        guard code == SQLITE_OK else { return code == Self.shortRead ? SQLITE_OK : code }
        first.withUnsafeMutableBytes { bytes in
            guard let page = Page(bytes, offset: 0) else { return }
            // If the header is damaged, the mark still shows that the bytes are reserved.
            hasReserve = hasReserve || page.hasMark
            isTrusted = hasReserve && (page.isValid || !page.isWrittenByOtherSQLite)
        }
        return SQLITE_OK
    }

    /// Adds the checksum to each page of the file, which must have all pages of the log. The first page comes last, so
    /// that a file without some checksums is not trusted. Returns a result code of SQLite.
    static func seal(_ file: File) -> Int32 {
        // Unsafe: the file is SQLite's. The buffer is used only during the calls.
        guard let state = of(file) else { return SQLITE_IOERR }
        let original = state.pointee.original.pointee
        var head = [UInt8](repeating: 0, count: Header.size)
        var code = original.xRead(file, &head, Int32(head.count), 0)
        var size: sqlite3_int64 = 0
        if code == SQLITE_OK { code = original.xFileSize(file, &size) }
        guard code == SQLITE_OK else { return code }
        let pageSize = head.withUnsafeMutableBytes { Header($0, offset: 0)?.pageSize ?? 0 }
        guard pageSize >= 512 else { return SQLITE_CORRUPT }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        for index in (0..<size / Int64(pageSize)).reversed() {
            let offset = index * Int64(pageSize)
            if index == 0 { code = original.xSync(file, SQLITE_SYNC_NORMAL) }
            if code == SQLITE_OK { code = original.xRead(file, &bytes, Int32(pageSize), offset) }
            guard code == SQLITE_OK else { return code }
            bytes.withUnsafeMutableBytes { Page($0, offset: offset)?.seal() }
            code = original.xWrite(file, &bytes, Int32(pageSize), offset)
            guard code == SQLITE_OK else { return code }
        }
        code = original.xSync(file, SQLITE_SYNC_NORMAL)
        state.pointee.isTrusted = code == SQLITE_OK
        return code
    }

    private static func read(_ file: File?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64)
        -> Int32
    {
        // Unsafe: the file and the buffer are SQLite's, and are used only during this call.
        guard let file, let buffer, let state = of(file) else { return SQLITE_IOERR }
        let code = state.pointee.recordRead(state.pointee.original.pointee.xRead(file, buffer, count, offset))
        // After a short read, the original VFS has filled the rest of the buffer with zeros.
        guard code == SQLITE_OK || code == shortRead else { return code }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        return state.pointee.verify(bytes, offset: offset) ? code : failure
    }

    private mutating func verify(_ bytes: UnsafeMutableRawBufferPointer, offset: Int64) -> Bool {
        let header = Header(bytes, offset: offset)
        if let header { hasReserve = hasReserve || header.hasReserve }
        guard hasReserve else { return true }
        if let page = Page(bytes, offset: offset) {
            guard !isTrusted || page.isValid else {
                damagedPage = page.number
                return false
            }
            page.unseal()
        }
        header?.setWAL(true)
        return true
    }

    private static func write(_ file: File?, _ buffer: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        // Unsafe: the file and the buffer are SQLite's. The buffer is a page in SQLite's memory. The page has the
        // checksum only during this call.
        guard let file, let buffer, let state = of(file) else { return SQLITE_IOERR }
        let bytes = UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(mutating: buffer), count: Int(count))
        let header = Header(bytes, offset: offset)
        if let header { state.pointee.hasReserve = header.hasReserve }
        guard state.pointee.hasReserve, let page = Page(bytes, offset: offset) else {
            return state.pointee.original.pointee.xWrite(file, buffer, count, offset)
        }
        let hadLog = header?.isWAL ?? false
        header?.setWAL(false)
        page.unseal()
        if state.pointee.isTrusted { page.seal() }
        defer {
            page.unseal()
            header?.setWAL(hadLog)
        }
        return state.pointee.original.pointee.xWrite(file, buffer, count, offset)
    }
}
