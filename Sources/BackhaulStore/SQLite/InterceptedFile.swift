internal import CSQLite

/// The state of an open file whose methods this module replaces. The methods of a file are the functions by which
/// SQLite reads and writes it.
///
/// The state is in the memory that SQLite allocates for the open file, behind the data of the original VFS. SQLite
/// frees that memory after xClose, and does not deinitialize the state. The table of the methods must be the first
/// stored property of the state, because `of` finds the state by this table.
protocol InterceptedFile {
    /// The result of the last read that has failed, or SQLITE_OK.
    var readFailure: Int32 { get set }
}

extension InterceptedFile {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The number of bytes that SQLite has to allocate for a file with this state.
    static var size: Int32 { offset + Int32(MemoryLayout<Self>.size) }

    private static var offset: Int32 { (VirtualFileSystem.originalFileSize + 15) & ~15 }

    /// SQLITE_IOERR_SHORT_READ. Swift does not import this macro.
    static var shortRead: Int32 { SQLITE_IOERR | 2 << 8 }

    /// Remembers the failure of a read, and returns the result for SQLite. If the disk cannot read (EIO), the original
    /// VFS returns SQLITE_IOERR_CORRUPTFS, and SQLite then reports a damaged database. But the database may be whole,
    /// and readable later. So the result becomes SQLITE_IOERR_READ. (Swift does not import these macros.)
    mutating func recordRead(_ code: Int32) -> Int32 {
        let code = code == SQLITE_IOERR | 33 << 8 ? SQLITE_IOERR | 1 << 8 : code
        if code != SQLITE_OK && code != Self.shortRead { readFailure = code }
        return code
    }

    /// Stores the state of a file that the original VFS has just opened. The file then has the methods of the state.
    @discardableResult
    static func install(_ state: Self, in file: File) -> UnsafeMutablePointer<Self> {
        // Unsafe: `VirtualFileSystem` makes SQLite allocate `size` bytes.
        let place = UnsafeMutableRawPointer(file).advanced(by: Int(offset))
        let stored = place.initializeMemory(as: Self.self, to: state)
        file.pointee.pMethods = UnsafePointer(place.assumingMemoryBound(to: sqlite3_io_methods.self))
        return stored
    }

    /// Returns the state of the file, or nil if the file has other methods.
    static func of(_ file: File) -> UnsafeMutablePointer<Self>? {
        // Unsafe: the methods are the first member of the state, so both have the same address.
        guard let methods = file.pointee.pMethods else { return nil }
        let address = UnsafeRawPointer(methods) - UnsafeRawPointer(file)
        guard address == Int(offset) else { return nil }
        return UnsafeMutableRawPointer(mutating: methods).assumingMemoryBound(to: Self.self)
    }
}
