internal import CLinux
internal import CSQLite
internal import Glibc

/// The database's file with a checksum in each page.
///
/// SQLite does not use the last bytes of a page when the database's header reserves them. Here they are a CRC-32C of
/// the page and its number, which is written with the page and verified when the page is read. SQLite sees zeros
/// there, so the log has zeros, too: its frames have checksums of their own.
///
/// Another SQLite may write to a store that no engine has open, and leaves checksums as they were. It does not go
/// unnoticed. It writes the first page with a zero for a checksum, because each log begins with that page
/// (`Connection.commit`), or with a new change counter, because the file says that it has no log. Such a database is
/// not *trusted*: nothing is verified, and `ChecksumConversion` rewrites it.
struct CheckedFile {
    /// What the header reserves in each page: four bytes of checksum and four that are zero but in the first page.
    static let reserve = 8
    /// SQLITE_IOERR_DATA, a macro with arithmetic.
    static let failure = SQLITE_IOERR | 32 << 8
    /// SQLITE_IOERR_SHORT_READ.
    private static let shortRead = SQLITE_IOERR | 2 << 8

    // Unsafe: in SQLite's own memory of the open file, behind what the file's original methods keep there. SQLite
    // frees it after xClose, and one thread at a time uses a file.
    private var methods: sqlite3_io_methods
    private let original: UnsafePointer<sqlite3_io_methods>
    /// False when another SQLite has written to the file, or one without checksums has made it.
    private(set) var isTrusted = true
    /// The header says so, or will: in a new database SQLite may write other pages before the first.
    private var hasReserve = false
    /// Page that did not match its checksum when it was read last.
    private(set) var damagedPage: Int64?

    var hasChecksums: Bool { isTrusted && hasReserve }
}

// MARK: In SQLite's memory of a file

extension CheckedFile {
    typealias Methods = sqlite3_io_methods
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// Bytes for it behind the `size` of the original's own.
    static func size(behind size: Int32) -> Int32 { offset(behind: size) + Int32(MemoryLayout<CheckedFile>.size) }

    private static func offset(behind size: Int32) -> Int32 { (size + 15) & ~15 }

    /// Takes the place of the methods of a file that was just opened.
    static func install(in file: File, behind size: Int32) {
        // Unsafe: `size(behind:)` has made room, and the original's methods are constants of SQLite.
        guard let original = file.pointee.pMethods else { return }
        let place = UnsafeMutableRawPointer(file).advanced(by: Int(offset(behind: size)))
        let state = place.initializeMemory(
            as: CheckedFile.self, to: CheckedFile(methods: original.pointee, original: original))
        // Without a shared index of the log and without mapped pages, which nothing would verify.
        state.pointee.methods.iVersion = 1
        state.pointee.methods.xRead = { CheckedFile.read($0, $1, $2, $3) }
        state.pointee.methods.xWrite = { CheckedFile.write($0, $1, $2, $3) }
        state.pointee.examine(file)
        file.pointee.pMethods = UnsafePointer(UnsafeMutableRawPointer(state).assumingMemoryBound(to: Methods.self))
    }

    /// Nil for a file that another access to files has opened.
    static func of(_ file: File) -> UnsafeMutablePointer<CheckedFile>? {
        // Unsafe: the methods are the first member of the state that they belong to.
        guard let methods = file.pointee.pMethods else { return nil }
        let address = UnsafeRawPointer(methods) - UnsafeRawPointer(file)
        guard address == Int(offset(behind: VirtualFileSystem.originalFileSize)) else { return nil }
        return UnsafeMutableRawPointer(mutating: methods).assumingMemoryBound(to: CheckedFile.self)
    }
}

// MARK: Pages

/// One page, or the first bytes of the file.
// Unsafe: SQLite's buffer, used during one call.
private struct Page {
    let bytes: UnsafeMutableRawBufferPointer
    let number: Int64

    /// Nil when these bytes are no page: SQLite reads pieces of the header, too.
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

    /// A page that was never written reads as zeros: SQLite frees pages without writing them.
    var isRight: Bool { word(end + 4) == sum && word(end) == mark || bytes.allSatisfy { $0 == 0 } }

    func seal() {
        setWord(end, mark)
        setWord(end + 4, sum)
    }

    func unseal() { bytes[end...].withMemoryRebound(to: UInt8.self) { $0.update(repeating: 0) } }

    // MARK: The first page

    /// SQLite changes this counter whenever it writes the first page, and without a log in each transaction.
    private var changeCounter: UInt32 { word(24) }
    /// SQLite's second copy of it.
    private var validFor: UInt32 { word(92) }

    /// Half of the change counter as of this page's checksum, and the same bits inverted.
    private var mark: UInt32 {
        guard number == 1 else { return 0 }
        return changeCounter << 16 | ~changeCounter & 0xFFFF
    }

    /// No other content looks like this by chance.
    var hasMark: Bool { word(end) == mark }

    /// Whether another SQLite wrote this first page; a damaged one does not look like that.
    var isForeign: Bool {
        let found = word(end)
        if found == 0, word(end + 4) == 0 { return true }
        return found >> 16 == ~found & 0xFFFF && found != mark && changeCounter == validFor
    }
}

/// The first bytes of the file (https://www.sqlite.org/fileformat.html#the_database_header).
// Unsafe: SQLite's buffer, used during one call.
private struct Header {
    static let size = 100
    private static let rollback: UInt8 = 1
    private static let log: UInt8 = 2
    let bytes: UnsafeMutableRawBufferPointer

    /// Nil when these bytes are not the first ones of a database.
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

    var hasLog: Bool { bytes[18] == Self.log }

    /// Both versions, for writing and for reading.
    func setLog(_ hasLog: Bool) {
        bytes[18] = hasLog ? Self.log : Self.rollback
        bytes[19] = bytes[18]
    }
}

// MARK: Reading and writing

extension CheckedFile {
    /// Whether checksums are there and true, by the first page.
    private mutating func examine(_ file: File) {
        // Unsafe: memory of this call alone.
        var head = [UInt8](repeating: 0, count: Header.size)
        let code = original.pointee.xRead(file, &head, Int32(head.count), 0)
        // Empty. Each database that is made here has the reserve (`Connection.reserveChecksums`).
        if code == Self.shortRead { hasReserve = true }
        guard code == SQLITE_OK else { return }
        let size = head.withUnsafeMutableBytes { bytes -> Int in
            let header = Header(bytes, offset: 0)
            hasReserve = header?.hasReserve ?? false
            return header?.pageSize ?? 0
        }
        var first = [UInt8](repeating: 0, count: size)
        guard original.pointee.xRead(file, &first, Int32(size), 0) == SQLITE_OK else { return }
        first.withUnsafeMutableBytes { bytes in
            guard let page = Page(bytes, offset: 0) else { return }
            // The header itself may be damaged.
            hasReserve = hasReserve || page.hasMark
            isTrusted = hasReserve && (page.isRight || !page.isForeign)
        }
    }

    private static func read(_ file: File?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64)
        -> Int32
    {
        // Unsafe: SQLite's file and buffer, used during this call.
        guard let file, let buffer, let state = of(file) else { return SQLITE_IOERR }
        let code = state.pointee.original.pointee.xRead(file, buffer, count, offset)
        // SQLite takes what is missing at the end for zeros.
        guard code == SQLITE_OK || code == shortRead else { return code }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        return state.pointee.verify(bytes, offset: offset) ? code : failure
    }

    private mutating func verify(_ bytes: UnsafeMutableRawBufferPointer, offset: Int64) -> Bool {
        let header = Header(bytes, offset: offset)
        if let header { hasReserve = hasReserve || header.hasReserve }
        guard hasReserve else { return true }
        if let page = Page(bytes, offset: offset) {
            guard !isTrusted || page.isRight else {
                damagedPage = page.number
                return false
            }
            page.unseal()
        }
        header?.setLog(true)
        return true
    }

    private static func write(_ file: File?, _ buffer: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        // Unsafe: SQLite's file, and its buffer, a page of its memory: it gets the checksum for this call alone.
        guard let file, let buffer, let state = of(file) else { return SQLITE_IOERR }
        let bytes = UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(mutating: buffer), count: Int(count))
        let header = Header(bytes, offset: offset)
        if let header { state.pointee.hasReserve = header.hasReserve }
        guard state.pointee.hasReserve, let page = Page(bytes, offset: offset) else {
            return state.pointee.original.pointee.xWrite(file, buffer, count, offset)
        }
        let hadLog = header?.hasLog ?? false
        header?.setLog(false)
        page.unseal()
        if state.pointee.isTrusted { page.seal() }
        defer {
            page.unseal()
            header?.setLog(hadLog)
        }
        return state.pointee.original.pointee.xWrite(file, buffer, count, offset)
    }
}
