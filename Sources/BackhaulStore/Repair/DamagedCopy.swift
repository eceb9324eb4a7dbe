internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// A copy of a damaged database, from which rows are read.
struct DamagedCopy {
    let path: String

    /// Opens the copy. A read of a damaged page fails.
    func open() throws(Failure) -> Connection {
        let connection = try Connection(path: path, files: try VirtualFileSystem.registeredName())
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
        let fresh = try PageFile("\(new.path)/\(Schema.fileName)")
        let damaged = try PageFile(path)
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

    private static let unreadable = Failure.damaged("the schema cannot be read, so nothing can be saved")

    private func isSchemaReadable() throws(Failure) -> Bool {
        do throws(Failure) {
            let connection = try open()
            defer { connection.close() }
            return try Database.checkedVersion(of: connection, newest: Schema.version()) == Schema.version()
        } catch where [.storeNewer, .outOfResources].contains(error.status) {
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
    private let path: String
    private let file: Descriptor

    init(_ path: String) throws(Failure) {
        self.path = path
        file = Descriptor(owning: bhl_open(path, O_RDWR | O_NOFOLLOW, 0))
        guard file.number >= 0 else { throw failure }
    }

    private var failure: Failure { Failure.system(.engineFailed, code: bhl_errno(), "\(path) cannot be copied") }

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
        guard pwrite(file.number, page, page.count, offset(number)) == page.count else { throw failure }
    }

    private func offset(_ number: Int) -> off_t { off_t((number - 1) * Schema.pageSize) }
}
