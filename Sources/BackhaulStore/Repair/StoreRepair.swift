public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import CSQLite
internal import Glibc

/// Replaces a damaged database by a new one with all rows that can be read. The damaged database and its log are moved
/// to a new folder of the store, unchanged.
///
/// The new database is made in the folder `repair`, from a copy of the damaged one. Then the files are moved. At each
/// moment, a crash leaves either the damaged database, or no database and the complete new one in `repair`, together
/// with the list of the losses. The next repair continues there, and until then no engine can open the store
/// (`StoreDirectory.refuseUnfinishedRepair`).
public struct StoreRepair {
    /// A loss (a warning), or the result.
    public struct Finding: Equatable, Sendable {
        public enum Level: String, Sendable {
            case ok, warning
        }
        public var level: Level
        /// A sentence without a full stop.
        public var text: String
    }

    static let folder = "repair"
    /// The path of the new database in the store.
    static let newName = "\(folder)/new/\(Schema.fileName)"
    /// The name of the list: the folder for the damaged database, and the losses, separated by zeros.
    private static let listName = "losses"

    private let directory: StoreDirectory
    private let lock: StoreLock
    private let origin: (String) -> Origin?
    private let report: (Finding) -> Void

    private var store: Int32 { directory.descriptor.number }

    /// - origin: returns the scheme, server and port of a URL, or nil if the URL cannot be read.
    /// - report: gets the findings, in the order in which they are made.
    public init(
        _ directory: StoreDirectory, _ lock: StoreLock, origin: @escaping (String) -> Origin?,
        report: @escaping (Finding) -> Void
    ) {
        (self.directory, self.lock, self.origin, self.report) = (directory, lock, origin, report)
    }

    /// Repairs the database, even if no damage is known: only a read of all rows shows whether they can be read. Throws
    /// storeDamaged if nothing can be saved, and storeNewer if a newer library has made the database. If it throws
    /// before it reports, the store is unchanged.
    public func run() throws(Failure) {
        if try !directory.hasUnfinishedRepair(), try !prepare() {
            return report(Finding(level: .ok, text: "the database has no damage; nothing was changed"))
        }
        let list = "\(Self.folder)/new/\(Self.listName)"
        guard let text = directory.endOfFile(list, size: try directory.sizeOfFile(list) ?? 0) else {
            throw directory.fileFailure(list)
        }
        let entries = text.split(separator: "\0").map(String.init)
        for loss in entries.dropFirst() { report(Finding(level: .warning, text: loss)) }
        let aside = entries.first ?? "damaged"
        try moveFiles(to: aside)
        report(
            Finding(level: .ok, text: "the database was made again; the damaged one is in \(directory.path)/\(aside)"))
        remove(Self.folder, in: store)
    }

    // MARK: The new database

    /// Makes the new database and the list of the losses. Returns false, and makes nothing, if there is no damage.
    private func prepare() throws(Failure) -> Bool {
        remove(Self.folder, in: store)
        var isPrepared = false
        defer { if !isPrepared { remove(Self.folder, in: store) } }
        guard mkdirat(store, Self.folder, 0o700) == 0 else { throw directory.fileFailure(Self.folder) }
        let work = try StoreDirectory.open(path: "\(directory.path)/\(Self.folder)")
        let new = try StoreDirectory.open(path: "\(work.path)/building")
        let losses = try makeDatabase(new, from: DamagedCopy(folder: work))
        guard !losses.isEmpty else { return false }
        let list = try new.openFile(Self.listName)
        let bytes = Array(([try freeName()] + losses).joined(separator: "\0").utf8)
        try directory.writeAll(bytes[...], to: list, Self.folder, at: 0)
        // Only a complete database has the name that a later repair looks for.
        for number in [list.number, new.descriptor.number] { try directory.sync(number, Self.folder) }
        guard renameat(work.descriptor.number, "building", work.descriptor.number, "new") == 0 else {
            throw directory.fileFailure(Self.folder)
        }
        for number in [work.descriptor.number, store] { try directory.sync(number, Self.folder) }
        isPrepared = true
        return true
    }

    /// Returns the first free name of `damaged-1`, `damaged-2` and so on.
    private func freeName() throws(Failure) -> String {
        var number = 1
        while try directory.sizeOfFile("damaged-\(number)") != nil { number += 1 }
        return "damaged-\(number)"
    }

    /// Copies all rows that can be read to a new database, and makes them consistent. Returns sentences about the
    /// losses.
    private func makeDatabase(_ new: StoreDirectory, from copy: DamagedCopy) throws(Failure) -> [String] {
        var losses: [String] = []
        for name in [Schema.fileName, Schema.walName] where try directory.sizeOfFile(name) != nil {
            let count = try copy.add(name, from: directory)
            if count > 0 { losses.append("pages of the file \(name) that the disk cannot read: \(count)") }
        }
        try Database(directory: new).connection.close()
        do throws(Failure) {
            try WALCheck.refuseDamage(copy.folder)
        } catch where error.status == .storeDamaged {
            losses.append("the newest changes are lost, because the log of the database is damaged")
        }
        if try copy.restoreSchema(from: new) { losses.append("the schema of the database could not be read") }
        let source = try copy.open()
        defer { source.close() }
        let database = try Database(directory: new)
        defer { database.connection.close() }
        try database.change { () throws(Failure) in try fill(database, from: source, &losses) }
        database.connection.checkpoint(truncating: true)
        guard database.connection.walSize == 0 else {
            throw Failure(.storeFull, "the new database cannot be written; free some space, and repeat the repair")
        }
        do throws(Failure) {
            try database.connection.checkIntegrity()
        } catch where error.status == .storeDamaged {
            throw Failure(.internal, "the new database is not consistent (\(error.message)); please report it")
        }
        do throws(Failure) {
            if losses.isEmpty { try source.checkIntegrity() }
        } catch where error.status == .storeDamaged {
            losses.append("an index does not match its table, so rows may be lost; all rows that were found are saved")
        }
        return losses
    }

    private func fill(_ database: Database, from source: Connection, _ losses: inout [String]) throws(Failure) {
        // The values of this boot do not belong to the old rows.
        try database.connection.execute("DELETE FROM meta")
        let salvage = RowSalvage(source: source, target: database.connection)
        let lost = try salvage.copyAll(hasLostChanges: !losses.isEmpty)
        guard lost.isEmpty || salvage.count > 0 else { throw DamagedCopy.unreadable }
        losses += lost.map(\.sentence)
        var found: [String] = []
        let consistency = Consistency(
            tables: Tables(connection: database.connection, directory: directory), damaged: Set(lost.map(\.table)),
            origin: origin, reportLoss: { found.append($0) })
        try consistency.restore(now: Clock.wallMilliseconds)
        if !(losses + found).isEmpty { try consistency.reportFilesWithoutTask(in: directory.keptPath) }
        losses += found
    }

    // MARK: Files

    /// Moves the damaged files to a folder, and the new database to its place.
    private func moveFiles(to aside: String) throws(Failure) {
        // An unfinished repair has made the folder already.
        guard mkdirat(store, aside, 0o700) == 0 || bhl_errno() == EEXIST else { throw directory.fileFailure(aside) }
        for name in [Schema.fileName, Schema.walName] where try directory.sizeOfFile(name) != nil {
            try move(name, to: "\(aside)/\(name)")
        }
        try move(Self.newName, to: Schema.fileName)
    }

    /// Renames a file of the store durably. Replaces no file.
    private func move(_ name: String, to other: String) throws(Failure) {
        // EINVAL: the file system cannot refuse a replacement.
        guard
            bhl_rename(store, name, store, other, 0) == 0
                || bhl_errno() == EINVAL && bhl_rename(store, name, store, other, 1) == 0
        else { throw directory.fileFailure(other) }
        // The sync of the store removes the old name for good, so the new name is synced first.
        for folder in [other.split(separator: "/").dropLast().joined(separator: "/"), "."] where !folder.isEmpty {
            let folder = Descriptor(owning: bhl_openat(store, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0))
            guard folder.number >= 0 else { throw directory.fileFailure(other) }
            try directory.sync(folder.number, other)
        }
    }

    /// Removes a file, a link, or a folder with its contents, if it exists.
    private func remove(_ name: String, in parent: Int32) {
        if unlinkat(parent, name, 0) == 0 { return }
        let folder = Descriptor(owning: bhl_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0))
        guard folder.number >= 0 else { return }
        for name in (try? DirectoryReader.textNames(in: "/proc/self/fd/\(folder.number)")) ?? [] {
            remove(name, in: folder.number)
        }
        unlinkat(parent, name, Int32(AT_REMOVEDIR))
    }
}
