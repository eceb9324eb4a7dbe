internal import BackhaulModel

/// The table `upload_resources` has the resources that servers have made for uploads of live tasks.
struct UploadTable {
    let connection: Connection

    func resource(of task: TaskID) throws(Failure) -> UploadResource? {
        try connection.first(Self.select, .id(task), read: UploadResource.init(row:))
    }

    /// Does nothing when the task has ended.
    func write(_ resource: UploadResource, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.write, .id(task), .text(resource.url), .bits(resource.offset), .bits(resource.longestAppend))
    }

    func remove(of task: TaskID) throws(Failure) { try connection.run(Self.remove, .id(task)) }

    /// Removes the rows of the selected tasks.
    func removeOfSelected() throws(Failure) { try connection.run(Self.removeSelected) }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeAcknowledged) }

    private static let select = Query(UploadResource.init(row:), "FROM upload_resources WHERE task_id = ?")
    private static let write = Query(
        """
        INSERT OR REPLACE INTO upload_resources (task_id, url, upload_offset, longest_append)
        SELECT id, ?2, ?3, ?4 FROM tasks WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let remove = Query("DELETE FROM upload_resources WHERE task_id = ?")
    private static let removeSelected = Query("DELETE FROM upload_resources WHERE task_id IN selected")
    private static let removeAcknowledged = Query("DELETE FROM upload_resources WHERE task_id IN acknowledged")
}

extension UploadResource {
    fileprivate init(row: inout Row) {
        self.init(
            url: row.text("url"), offset: row.bits("upload_offset"),
            longestAppend: row.optionalBits("longest_append"))
    }
}
