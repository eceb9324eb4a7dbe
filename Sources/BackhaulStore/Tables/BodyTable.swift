public import BackhaulModel

/// The tables with the files of request bodies, which are the data of uploads.
///
/// `body_parts` has the files and values of each body. A host's file is consumed in two steps: first, the file gets a
/// hard link or a copy in the store, and later, its old name is removed. `consumed` has the old paths that must still
/// be removed. `body_leftovers` has files in the store that no task needs. `bodies_to_return` has consumed files that
/// must be moved back to their old paths, because their tasks have not succeeded. This happens after the host has
/// acknowledged the event about the task's end.
public struct BodyTable {
    let connection: Connection

    // MARK: Parts of bodies

    func insert(_ part: BodyPart, of task: TaskID, at position: Int) throws(Failure) {
        try connection.run(
            Self.insertPart, .id(task), .number(position), .optional(part.name), .optional(part.file?.path),
            .bits(part.file?.device), .bits(part.file?.inode), .bits(part.file?.size),
            .optional(part.file?.modifiedNanoseconds), .optional(part.value), .optional(part.fileName),
            .optional(part.mediaType), .optional(part.file?.storedName), .optional(part.file?.fileSystem))
    }

    /// Returns the parts of the task's body, sorted by position.
    func parts(of task: TaskID) throws(Failure) -> [BodyPart] {
        try connection.all(Self.selectParts, .id(task), read: BodyPart.init(row:))
    }

    private func storesAny() throws(Failure) -> Bool {
        try connection.first(Self.storesAny) { row throws(Failure) in row.flag() } ?? false
    }

    /// Returns the name of the first file of the task that is in the store, or nil if there is none. If the task has
    /// ended without success, this is its consumed file.
    public func storedFile(of task: TaskID) throws(Failure) -> String? {
        try connection.first(Self.selectStoredFile, .id(task)) { row throws(Failure) in row.text() }
    }

    func forgetStored(_ name: String, of task: TaskID) throws(Failure) {
        try connection.run(Self.forgetStoredFile, .id(task), .text(name))
    }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeOfAcknowledged) }

    // MARK: Consumed files

    /// Records consumed files whose old paths must be removed. A path is removed only if it still leads to the same
    /// file.
    public func recordConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files {
            try connection.run(
                Self.insertConsumed, .text(file.path), .bits(file.inode), .bits(file.size),
                .integer(file.modifiedNanoseconds), .optional(file.fileSystem))
        }
    }

    /// Returns the consumed files with paths greater than `path`, sorted by path.
    public func consumed(after path: String = "", limit: Int) throws(Failure) -> [BodyFile] {
        try connection.all(Self.selectConsumed, .text(path), .number(limit), read: BodyFile.init(consumedRow:))
    }

    /// Returns the consumed files with these paths.
    public func consumed(at paths: [String]) throws(Failure) -> [BodyFile] {
        var files: [BodyFile] = []
        for path in paths {
            files += try connection.all(Self.selectConsumedAt, .text(path), read: BodyFile.init(consumedRow:))
        }
        return files
    }

    public func forgetConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files { try connection.run(Self.removeConsumed, .text(file.path)) }
    }

    // MARK: Leftovers

    /// Returns the leftovers with names greater than `name`, sorted by name.
    public func leftovers(after name: String = "", limit: Int) throws(Failure) -> [String] {
        try connection.all(Self.selectLeftovers, .text(name), .number(limit)) { row throws(Failure) in row.text() }
    }

    /// Adds the names to the leftovers, except names of files that a task needs or that must be moved back to their old
    /// paths. Such files exist if an engine has ended before it made the tasks for these files.
    public func addLeftovers(among names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.insertLeftoverIfUnused, .text(name)) }
    }

    /// Adds files of an ended task to the leftovers: its snapshots, and after a success also its consumed files.
    /// Returns whether the task has such files.
    func addLeftovers(of task: TaskID, hasSucceeded: Bool) throws(Failure) -> Bool {
        let names = try connection.all(hasSucceeded ? Self.selectStored : Self.selectSnapshots, .id(task)) {
            row throws(Failure) in row.text()
        }
        guard !names.isEmpty else { return false }
        for name in names { try connection.run(Self.insertLeftover, .text(name)) }
        try connection.run(Self.forgetStored, .id(task))
        return true
    }

    /// Adds the snapshots of the tasks in the temporary table `selected` to the leftovers.
    func addSnapshotsOfSelected() throws(Failure) {
        guard try storesAny() else { return }
        try connection.run(Self.insertSelectedSnapshots)
        try connection.run(Self.forgetSelectedSnapshots)
    }

    public func forgetLeftovers(_ names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.removeLeftover, .text(name)) }
    }

    /// Returns the names that no row of the database contains.
    public func unknown(among names: [String]) throws(Failure) -> [String] {
        var unknown: [String] = []
        for name in names {
            let isKnown = try connection.first(Self.isKnown, .text(name)) { row throws(Failure) in row.flag() }
            if isKnown != true { unknown.append(name) }
        }
        return unknown
    }

    // MARK: Files to move back

    /// Returns the files with names greater than `name`, sorted by name. A file is left out while its old path must
    /// still be removed, because that removal would delete the file that was moved back.
    public func bodiesToReturn(after name: String, limit: Int) throws(Failure) -> [ReturnedBody] {
        try connection.all(Self.selectToReturn, .text(name), .number(limit), read: ReturnedBody.init(row:))
    }

    /// Inserts into `bodies_to_return` the consumed files of the tasks whose events are in the temporary table
    /// `selected`. Returns whether there are such files. When a task ends, the names of its snapshots are removed from
    /// `body_parts`. If the task has succeeded, the names of its consumed files are removed, too. So the stored files
    /// that `body_parts` still names must be moved back.
    func addReturnsOfSelectedEvents() throws(Failure) -> Bool {
        guard try storesAny() else { return false }
        try connection.run(Self.insertToReturn)
        return connection.changes > 0
    }

    public func forgetReturned(_ names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.removeToReturn, .text(name)) }
    }

    // MARK: -

    /// The SQL value for a row of `tasks`: the name of the first file of the task that is in the store.
    static let storedOfTask = """
        (SELECT stored FROM body_parts
            WHERE body_parts.task_id = tasks.id AND stored IS NOT NULL ORDER BY position LIMIT 1)
        """

    private static let insertPart = Query(
        """
        INSERT INTO body_parts (task_id, position, name, file, device, inode, size, modified_ns, value, file_name,
            media_type, stored, file_system)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let removeOfAcknowledged = Query("DELETE FROM body_parts WHERE task_id IN acknowledged")
    private static let selectParts = Query(
        BodyPart.init(row:), "FROM body_parts WHERE task_id = ? ORDER BY position")
    private static let storesAny = Query("SELECT EXISTS (SELECT 1 FROM body_parts WHERE stored IS NOT NULL)")
    private static let selectStored = Query("SELECT stored FROM body_parts WHERE task_id = ? AND stored IS NOT NULL")
    private static let isSnapshot = "body_source = \(BodySource.snapshot.sql)"
    private static let selectSnapshots = Query(
        """
        SELECT stored FROM body_parts JOIN request_options USING (task_id)
        WHERE task_id = ? AND stored IS NOT NULL AND \(isSnapshot)
        """)
    private static let selectStoredFile = Query(
        "SELECT stored FROM body_parts WHERE task_id = ? AND stored IS NOT NULL ORDER BY position LIMIT 1")
    private static let forgetStored = Query("UPDATE body_parts SET stored = NULL WHERE task_id = ?")
    private static let forgetStoredFile = Query(
        "UPDATE body_parts SET stored = NULL WHERE task_id = ? AND stored = ?")
    private static let forgetSelectedSnapshots = Query(
        """
        UPDATE body_parts SET stored = NULL WHERE stored IS NOT NULL AND task_id IN
            (SELECT task_id FROM selected CROSS JOIN request_options ON task_id = selected.id WHERE \(isSnapshot))
        """)

    private static let insertConsumed = Query(
        "INSERT OR REPLACE INTO consumed (path, inode, size, modified_ns, file_system) VALUES (?, ?, ?, ?, ?)")
    private static let selectConsumed = Query(
        BodyFile.init(consumedRow:), "FROM consumed WHERE path > ? ORDER BY path LIMIT ?")
    private static let selectConsumedAt = Query(BodyFile.init(consumedRow:), "FROM consumed WHERE path = ?")
    private static let removeConsumed = Query("DELETE FROM consumed WHERE path = ?")

    private static let selectLeftovers = Query(
        "SELECT name FROM body_leftovers WHERE name > ? ORDER BY name LIMIT ?")
    private static let removeLeftover = Query("DELETE FROM body_leftovers WHERE name = ?")
    private static let insertLeftover = Query("INSERT OR IGNORE INTO body_leftovers (name) VALUES (?)")
    private static let insertLeftoverIfUnused = Query(
        """
        INSERT OR IGNORE INTO body_leftovers (name)
        SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM body_parts WHERE stored = ?1)
            AND NOT EXISTS (SELECT 1 FROM bodies_to_return WHERE name = ?1)
        """)
    private static let isKnown = Query(
        """
        SELECT EXISTS (SELECT 1 FROM body_parts WHERE stored = ?1)
            OR EXISTS (SELECT 1 FROM bodies_to_return WHERE name = ?1)
            OR EXISTS (SELECT 1 FROM body_leftovers WHERE name = ?1)
        """)
    private static let insertSelectedSnapshots = Query(
        """
        INSERT OR IGNORE INTO body_leftovers (name)
        SELECT stored FROM selected CROSS JOIN body_parts ON body_parts.task_id = selected.id
            CROSS JOIN request_options ON request_options.task_id = selected.id
        WHERE stored IS NOT NULL AND \(isSnapshot)
        """)

    private static let selectToReturn = Query(
        ReturnedBody.init(row:),
        """
        FROM bodies_to_return
        WHERE name > ? AND NOT EXISTS (SELECT 1 FROM consumed WHERE consumed.path = bodies_to_return.path)
        ORDER BY name LIMIT ?
        """)
    private static let removeToReturn = Query("DELETE FROM bodies_to_return WHERE name = ?")
    private static let insertToReturn = Query(
        """
        INSERT OR IGNORE INTO bodies_to_return (name, path, task_id, file_system)
        SELECT stored, file, body_parts.task_id, file_system FROM selected CROSS JOIN events ON events.id = selected.id
            CROSS JOIN body_parts ON body_parts.task_id = events.task_id
        WHERE stored IS NOT NULL
        """)
}

/// A row of `body_parts`. A part without a name is the whole body.
struct BodyPart {
    var name: String?
    var file: BodyFile?
    var value: [UInt8]?
    var fileName: String?
    var mediaType: String?
}

extension BodyPart {
    fileprivate init(row: inout Row) {
        self.init(name: row.optionalText("name"))
        let path = row.optionalText("file")
        let (device, inode, size) = (row.bits(Self.device), row.bits("inode"), row.bits("size"))
        let modified = row.integer("modified_ns")
        file = path.map {
            BodyFile(path: $0, device: device, inode: inode, size: size, modifiedNanoseconds: modified)
        }
        value = row.optionalBlob("value")
        fileName = row.optionalText("file_name")
        mediaType = row.optionalText("media_type")
        let (stored, fileSystem) = (row.optionalText("stored"), row.optionalText("file_system"))
        file?.storedName = stored
        file?.fileSystem = fileSystem
    }

    /// The SQL value of the file's device. If the task was enqueued before this boot, the value is 0, which means
    /// unknown.
    private static let device = "iif(task_id < \(MetaTable.firstTaskOfBoot), 0, device)"
}

extension BodyFile {
    fileprivate init(consumedRow row: inout Row) {
        self.init(
            path: row.text("path"), device: 0, inode: row.bits("inode"), size: row.bits("size"),
            modifiedNanoseconds: row.integer("modified_ns"))
        fileSystem = row.optionalText("file_system")
    }
}

extension ReturnedBody {
    fileprivate init(row: inout Row) {
        self.init(
            name: row.text("name"), path: row.text("path"), task: row.taskID("task_id"),
            fileSystem: row.optionalText("file_system"))
    }
}
