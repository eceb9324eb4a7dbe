internal import BackhaulModel

/// The table `claims`: the files that are being moved out of the store. A row has the identity of the file that will
/// get the name at this path. The row is written before the file gets this name, and removed when the claim is
/// recorded. So after a crash, a repeated claim recognizes the moved file.
struct ClaimTable {
    let connection: Connection

    func intent(of task: TaskID) throws(Failure) -> FinishIntent? {
        try connection.first(Self.select, .id(task), read: Self.intent)
    }

    /// Writes the intent, which replaces the task's earlier intent.
    func write(_ intent: FinishIntent, of task: TaskID) throws(Failure) {
        try connection.run(Self.write, .id(task), .bits(intent.device), .bits(intent.inode), .bits(intent.size))
    }

    func remove(of task: TaskID) throws(Failure) { try connection.run(Self.remove, .id(task)) }

    func clearDevices() throws(Failure) { try connection.run(Self.clearDevices) }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeOfAcknowledged) }

    // MARK: -

    private static func intent(_ row: inout Row) -> FinishIntent {
        FinishIntent(device: row.bits("device"), inode: row.bits("inode"), size: row.bits("size"))
    }

    private static let select = Query(intent, "FROM claims WHERE task_id = ?")
    private static let write = Query(
        "INSERT OR REPLACE INTO claims (task_id, device, inode, size) VALUES (?1, ?2, ?3, ?4)")
    private static let remove = Query("DELETE FROM claims WHERE task_id = ?")
    private static let clearDevices = Query("UPDATE claims SET device = 0")
    private static let removeOfAcknowledged = Query("DELETE FROM claims WHERE task_id IN acknowledged")
}
