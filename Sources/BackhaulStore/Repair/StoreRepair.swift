public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import CSQLite
internal import Glibc

/// Replaces a damaged database by a new one with all rows that can be read. The damaged database and its log are moved
/// to a new folder of the store, unchanged.
///
/// The new database is made in the folder `repair`, from a copy of the damaged one. Then the files are moved. At each
/// moment, a crash leaves either the damaged database, or no database and the complete new one in `repair`. The next
/// repair continues there, and until then no engine can open the store (`StoreDirectory.refuseUnfinishedRepair`).
public struct StoreRepair {
    /// What is known about a row or a file: saved, lost, or changed.
    public struct Finding: Equatable, Sendable {
        public enum Level: String, Sendable {
            case ok, warning, error
        }
        public var level: Level
        /// A sentence without a full stop.
        public var text: String
    }

    static let folder = "repair"
    /// The path of the new database in the store.
    static let newName = "\(folder)/new/\(Schema.fileName)"

    private let directory: StoreDirectory
    private let lock: StoreLock
    private let origin: (String) -> Origin?
    private let report: (Finding) -> Void

    private var path: String { directory.path }
    private var work: String { "\(path)/\(Self.folder)" }
    private var building: String { "\(work)/building" }

    /// - origin: returns the scheme, server and port of a URL, or nil if the URL cannot be read.
    /// - report: gets the findings, in the order in which they are made.
    public init(
        _ directory: StoreDirectory, _ lock: StoreLock, origin: @escaping (String) -> Origin?,
        report: @escaping (Finding) -> Void
    ) {
        (self.directory, self.lock, self.origin, self.report) = (directory, lock, origin, report)
    }

    /// Repairs the database, even if no damage is known: only a read of all rows shows whether they can be read. Throws
    /// storeDamaged if nothing can be saved. If it throws, the store is unchanged.
    public func run() throws(Failure) {
        if !directory.hasUnfinishedRepair {
            guard try makeDatabaseOrCleanUp() else {
                removeWork()
                return report(Finding(level: .ok, text: "the database has no damage; nothing was changed"))
            }
        }
        let aside = try moveFiles()
        report(Finding(level: .ok, text: "the database was made again; the damaged one is in \(aside)"))
        removeWork()
    }

    // MARK: The new database

    private func makeDatabaseOrCleanUp() throws(Failure) -> Bool {
        do throws(Failure) {
            try copyDatabase()
            let isDamaged = try makeDatabase()
            // Only a complete database has the name that a later repair looks for.
            guard rename(building, "\(work)/new") == 0 else { throw directory.fileFailure(Self.folder) }
            return isDamaged
        } catch {
            removeWork()
            throw error
        }
    }

    private func copyDatabase() throws(Failure) {
        removeWork()
        for folder in [work, building] where mkdir(folder, 0o700) != 0 { throw directory.fileFailure(folder) }
        try copy(Schema.fileName)
        if directory.sizeOfFile(Schema.walName) != nil { try copy(Schema.walName) }
    }

    private func copy(_ name: String) throws(Failure) {
        let from = Descriptor(owning: bhl_openat(directory.descriptor.number, name, O_RDONLY | O_NOFOLLOW, 0))
        guard from.number >= 0 else { throw directory.fileFailure(name) }
        let to = Descriptor(owning: bhl_open("\(work)/\(name)", O_WRONLY | O_CREAT | O_EXCL, 0o600))
        guard to.number >= 0 else { throw directory.fileFailure(name) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(from.number, &buffer, buffer.count)
            guard count >= 0 else { throw directory.fileFailure(name) }
            if count == 0 { return }
            guard write(to.number, &buffer, count) == count else { throw directory.fileFailure(name) }
        }
    }

    /// Copies all rows that can be read to a new database, and makes them consistent. Returns whether the old database
    /// is damaged.
    private func makeDatabase() throws(Failure) -> Bool {
        let new = try StoreDirectory.open(path: building)
        try Database(directory: new).connection.close()
        var losses = 0
        func reportLoss(_ sentence: String) {
            losses += 1
            report(Finding(level: .warning, text: sentence))
        }
        do throws(Failure) {
            try WALCheck.refuseDamage(directory)
        } catch where error.status == .storeDamaged {
            reportLoss("the newest changes are lost, because the log of the database is damaged")
        }
        let copy = DamagedCopy(path: "\(work)/\(Schema.fileName)")
        if try copy.restoreSchema(from: new) { reportLoss("the schema of the database could not be read") }
        let source = try copy.open()
        defer { source.close() }
        let database = try Database(directory: new)
        defer { database.connection.close() }
        try database.change { () throws(Failure) in
            // The values of this boot do not belong to the old rows.
            try database.connection.execute("DELETE FROM meta")
            let damaged = try RowSalvage(source: source, target: database.connection).copyAll(hasLostChanges: losses > 0)
            for loss in damaged { reportLoss(loss.sentence) }
            let consistency = Consistency(
                tables: Tables(connection: database.connection, directory: directory),
                damaged: Set(damaged.map(\.table)), origin: origin, reportLoss: reportLoss)
            try consistency.restore(now: Clock.wallMilliseconds)
            if losses > 0 { try consistency.reportFilesWithoutTask(in: directory.keptPath) }
        }
        database.connection.checkpoint(truncating: true)
        guard database.connection.walSize == 0 else {
            throw Failure(.storeFull, "the new database cannot be written; free some space, and repeat the repair")
        }
        if let found = try database.connection.pragma("PRAGMA integrity_check(1)"), found != "ok" {
            throw Failure(.internal, "the new database is not consistent (\(found)); please report it")
        }
        // A damaged page may belong to an index only.
        return losses > 0 || (try? source.pragma("PRAGMA integrity_check(1)")) != "ok"
    }

    // MARK: Files

    /// Moves the damaged files to a new folder, and the new database to its place. Returns the path of the folder.
    private func moveFiles() throws(Failure) -> String {
        let aside = try asideFolder()
        for name in [Schema.fileName, Schema.walName] where directory.sizeOfFile(name) != nil {
            try move(name, to: "\(aside)/\(name)")
        }
        try move(Self.newName, to: Schema.fileName)
        return "\(path)/\(aside)"
    }

    /// Makes the folder `damaged-1`, or with the next free number. An unfinished repair has made its folder already.
    private func asideFolder() throws(Failure) -> String {
        var number = 1
        while directory.sizeOfFile("damaged-\(number)") != nil { number += 1 }
        if directory.hasUnfinishedRepair, number > 1 { return "damaged-\(number - 1)" }
        let name = "damaged-\(number)"
        guard mkdirat(directory.descriptor.number, name, 0o700) == 0 else { throw directory.fileFailure(name) }
        return name
    }

    /// Renames a file of the store durably.
    private func move(_ name: String, to other: String) throws(Failure) {
        let store = directory.descriptor.number
        guard renameat(store, name, store, other) == 0 else { throw directory.fileFailure(name) }
        for folder in [".", other.split(separator: "/").dropLast().joined(separator: "/")] where !folder.isEmpty {
            let folder = Descriptor(owning: bhl_openat(store, folder, O_RDONLY | O_DIRECTORY, 0))
            guard folder.number >= 0, fsync(folder.number) == 0 else { throw directory.fileFailure(other) }
        }
    }

    private func removeWork() {
        for folder in ["\(work)/new", building, work] {
            for name in (try? DirectoryReader.textNames(in: folder)) ?? [] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
    }
}
