internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// A copy of a damaged database, from which rows are read.
struct DamagedCopy {
    /// The folder with the copy of the database and its log.
    let folder: StoreDirectory

    /// Copies a file of the store into the folder. Returns how many pages the disk cannot read: the copy has bytes in
    /// their place that match no checksum. `read` is pread(2).
    func add(
        _ name: String, from store: StoreDirectory,
        // Unsafe: the pointer is valid during the call.
        read: (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int = { pread($0, $1, $2, $3) }
    ) throws(Failure) -> Int {
        let from = Descriptor(owning: bhl_openat(store.descriptor.number, name, O_RDONLY | O_NOFOLLOW, 0))
        guard from.number >= 0 else { throw store.fileFailure(name) }
        let to = Descriptor(owning: bhl_openat(folder.descriptor.number, name, O_WRONLY | O_CREAT | O_EXCL, 0o600))
        guard to.number >= 0 else { throw store.fileFailure(name) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var (offset, damaged): (off_t, Int) = (0, 0)
        while true {
            var count = read(from.number, &buffer, buffer.count, offset)
            if count < 0, bhl_errno() == EIO { count = read(from.number, &buffer, Schema.pageSize, offset) }
            if count < 0, bhl_errno() == EIO {
                count = Schema.pageSize - Int(offset) % Schema.pageSize
                for index in 0..<count { buffer[index] = .max }
                damaged += 1
            }
            guard count >= 0 else { throw store.fileFailure(name) }
            if count == 0 { return damaged }
            try store.writeAll(buffer[..<count], to: to, name, at: Int(offset))
            offset += off_t(count)
        }
    }

    /// Opens the copy. A read of a damaged page fails.
    func open() throws(Failure) -> Connection {
        let connection = try Connection(
            path: folder.reachablePath(of: Schema.fileName), files: try VirtualFileSystem.registeredName())
        try Database.configure(connection)
        return connection
    }

    /// Makes the description of the tables (the *schema*) readable, if it is not. Returns whether it was changed.
    ///
    /// In all databases of one version of the library, the schema has the same bytes in the same pages, because it is
    /// written when a database is made and never changes. So its pages are copied from a new, closed database. Throws
    /// storeNewer if this library does not know the version of the database.
    func restoreSchema(from new: StoreDirectory) throws(Failure) -> Bool {
        if try isSchemaReadable() { return false }
        let fresh = try PageFile(in: new)
        let damaged = try PageFile(in: folder)
        for number in try schemaPages(of: new) {
            var page = try fresh.read(number)
            var known = try damaged.read(number)
            // A whole page with other bytes is from another version of the library. Zeros count as valid.
            let isEmpty = known.allSatisfy { $0 == 0 }
            let isWhole = number > 1 && !isEmpty && CheckedFile.isValid(&known, number: number)
            guard !isWhole || known == page else { throw Self.unreadable }
            if number == 1 { CheckedFile.setPageCount(try damaged.pageCount(), inFirst: &page) }
            try damaged.write(page, number)
        }
        guard try isSchemaReadable() else { throw Self.unreadable }
        return true
    }

    static let unreadable = Failure(
        .storeDamaged,
        "no row of the store's database can be read, so the repair can save nothing; put back a copy, or move the "
            + "store's directory away to begin an empty one")

    private func isSchemaReadable() throws(Failure) -> Bool {
        do throws(Failure) {
            let connection = try open()
            defer { connection.close() }
            return try Database.checkedVersion(of: connection, newest: Schema.version()) == Schema.version()
        } catch where [.storeNewer, .outOfResources, .engineFailed].contains(error.status) {
            throw error
        } catch {
            return false
        }
    }

    /// The pages of a new database that are not the empty root of a table or an index.
    private func schemaPages(of new: StoreDirectory) throws(Failure) -> [Int] {
        let database = try Database(directory: new)
        defer { database.connection.close() }
        let roots = try database.connection.all(Query("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")) {
            row throws(Failure) in Int(row.integer())
        }
        let count = try database.connection.pragma("PRAGMA page_count").flatMap { Int($0) } ?? 0
        return Set(1...max(1, count)).subtracting(roots).sorted()
    }
}

/// The pages of a closed database, which are read and written without SQLite.
private struct PageFile {
    private let directory: StoreDirectory
    private let file: Descriptor

    init(in directory: StoreDirectory) throws(Failure) {
        self.directory = directory
        file = try directory.openFile(Schema.fileName)
    }

    private var failure: Failure { directory.fileFailure(Schema.fileName) }

    func pageCount() throws(Failure) -> Int {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw failure }
        return Int(status.st_size) / Schema.pageSize
    }

    /// Returns zeros behind the end of the file.
    func read(_ number: Int) throws(Failure) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: Schema.pageSize)
        guard pread(file.number, &page, page.count, offset(number)) >= 0 else { throw failure }
        return page
    }

    func write(_ page: [UInt8], _ number: Int) throws(Failure) {
        try directory.writeAll(page[...], to: file, Schema.fileName, at: Int(offset(number)))
    }

    private func offset(_ number: Int) -> off_t { off_t((number - 1) * Schema.pageSize) }
}
