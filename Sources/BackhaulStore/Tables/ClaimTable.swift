internal import BackhaulModel

/// The table `claims`: the files that are being moved out of the store. A row has the identity of the file that will
/// get the name at this path. The row is written before the file gets this name, and removed when the claim is
/// recorded. So after a crash, a repeated claim recognizes the moved file. If the claim is not repeated, the row shows
/// where a copy of the file may be, which no claim needs any more.
struct ClaimTable {
    let connection: Connection

    func find(_ task: TaskID) throws(Failure) -> StoredClaim? {
        try connection.first(Self.select, .id(task), read: StoredClaim.init(row:))
    }

    /// Writes the intent of a claim to the path. It replaces the task's earlier intent.
    func write(_ intent: FinishIntent, of task: TaskID, to path: String) throws(Failure) {
        try connection.run(
            Self.write, .id(task), .bits(intent.device), .bits(intent.inode), .bits(intent.size), .text(path),
            .optional(intent.fileSystem))
    }

    func remove(of task: TaskID) throws(Failure) { try connection.run(Self.remove, .id(task)) }

    func clearDevices() throws(Failure) { try connection.run(Self.clearDevices) }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeOfAcknowledged) }

    // MARK: -

    private static let select = Query(StoredClaim.init(row:), "FROM claims WHERE task_id = ?")
    private static let write = Query(
        "INSERT OR REPLACE INTO claims (task_id, device, inode, size, path, file_system) VALUES (?, ?, ?, ?, ?, ?)")
    private static let remove = Query("DELETE FROM claims WHERE task_id = ?")
    private static let clearDevices = Query("UPDATE claims SET device = 0")
    private static let removeOfAcknowledged = Query("DELETE FROM claims WHERE task_id IN acknowledged")
}

/// A row of `claims`.
struct StoredClaim {
    /// The path to which the host claims the file.
    var path: String
    var intent: FinishIntent

    fileprivate init(row: inout Row) {
        path = row.text("path")
        intent = FinishIntent(device: row.bits("device"), inode: row.bits("inode"), size: row.bits("size"))
        intent.fileSystem = row.optionalText("file_system")
    }

    /// Whether a copy for a claim to `other` replaces the copy of this claim, because it has the same name in the same
    /// directory.
    func isCopyReplaced(byClaimTo other: String, on fileSystem: String?) -> Bool {
        let (directory, otherDirectory) = (Destination.directory(of: path), Destination.directory(of: other))
        guard directory.utf8.elementsEqual(otherDirectory.utf8) else { return false }
        guard let known = intent.fileSystem, let fileSystem else { return true }
        return known == fileSystem
    }
}
