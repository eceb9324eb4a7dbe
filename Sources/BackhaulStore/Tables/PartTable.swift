internal import BackhaulModel

/// The tables for the part files of tasks that have not ended. A download writes to its part file until all bytes have
/// arrived. Then the engine *places* the file: gives it its final name. `checkpoints` has the durable state of each
/// part file. `intents` has the identity of each finished file and the counters of the attempt, recorded before the
/// file is placed.
struct PartTable {
    let connection: Connection

    // MARK: Checkpoints

    /// Writes the checkpoint, which replaces the task's earlier checkpoint. Does nothing when the task has ended.
    func write(_ checkpoint: Checkpoint, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.writeCheckpoint, .id(task), .optional(checkpoint.validator.entityTag),
            .optional(checkpoint.validator.lastModified), .text(checkpoint.finalURL), .bits(checkpoint.size),
            .bits(checkpoint.syncedOffset), .text(checkpoint.bootID), .optional(checkpoint.facts.digest?.text),
            .optional(checkpoint.facts.contentEncoding), .optional(checkpoint.facts.name),
            .bits(checkpoint.part?.device), .bits(checkpoint.part?.inode), .bits(checkpoint.part?.length),
            .bits(checkpoint.part?.checksum.map(UInt64.init)), .bits(checkpoint.syncedChecksum.map(UInt64.init)))
    }

    /// Changes the checkpoint because the task gets another URL. An entity tag and a size can prove that the new URL
    /// has the same file. If the checkpoint has an entity tag and a size, only its URL is cleared. Otherwise the
    /// checkpoint is removed.
    func forgetURL(of task: TaskID) throws(Failure) {
        try connection.run(Self.forgetURL, .id(task))
        try connection.run(Self.removeUnprovable, .id(task))
    }

    func removeCheckpoint(of task: TaskID) throws(Failure) { try connection.run(Self.removeCheckpoint, .id(task)) }

    /// Retains the checkpoint of a task that ends, for a later task, which continues the part file.
    func retainCheckpoint(of task: TaskID) throws(Failure) { try connection.run(Self.retain, .id(task)) }

    /// Gives the retained checkpoint of `task` to a later task. Its URL is forgotten as by `forgetURL`.
    func moveRetainedCheckpoint(of task: TaskID, to later: TaskID) throws(Failure) {
        try connection.run(Self.moveRetained, .id(task), .id(later))
        try forgetURL(of: later)
    }

    func removeRetainedCheckpoint(of task: TaskID) throws(Failure) {
        try connection.run(Self.removeRetained, .id(task))
    }

    func removeCheckpointsOfSelected() throws(Failure) { try connection.run(Self.removeSelectedCheckpoints) }

    // MARK: Intents

    /// Writes the finish intent, which replaces the task's earlier finish intent. The intent's row also has the
    /// counters of the attempt, so that the task's row changes only at the end of the task. If the task has ended,
    /// writes nothing and returns false.
    func write(
        _ intent: FinishIntent, attempts: UInt32, bytesReceived: UInt64, httpStatus: Int32, of task: TaskID
    ) throws(Failure) -> Bool {
        try connection.run(
            Self.writeIntent, .id(task), .bits(intent.device), .bits(intent.inode), .bits(intent.size),
            .optional(intent.name), .number(attempts), .bits(bytesReceived), .number(httpStatus),
            .bits(intent.checksum.map(UInt64.init)))
        return connection.changes == 1
    }

    func removeIntent(of task: TaskID) throws(Failure) { try connection.run(Self.removeIntent, .id(task)) }

    func clearDevices() throws(Failure) { try connection.run(Self.clearDevices) }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) {
        try connection.run(Self.removeAcknowledgedCheckpoints)
        try connection.run(Self.removeAcknowledgedIntents)
    }

    // MARK: -

    /// The SQL condition for a row of `tasks`: the task has a finish intent.
    static let hasIntent = "EXISTS (SELECT 1 FROM intents WHERE intents.task_id = tasks.id)"

    private static let writeCheckpoint = Query(
        """
        INSERT OR REPLACE INTO checkpoints (task_id, entity_tag, last_modified, final_url, size, synced_offset, boot_id,
            digest, content_encoding, file_name, part_device, part_inode, part_length,
            part_checksum, synced_checksum)
        SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
        FROM tasks WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let forgetURL = Query(
        """
        UPDATE checkpoints SET final_url = '' WHERE task_id = ?1 AND (entity_tag IS NOT NULL AND size IS NOT NULL
            OR EXISTS (SELECT 1 FROM request_options WHERE task_id = ?1 AND checksum IS NOT NULL))
        """)
    private static let removeUnprovable = Query("DELETE FROM checkpoints WHERE task_id = ? AND final_url <> ''")
    private static let removeCheckpoint = Query("DELETE FROM checkpoints WHERE task_id = ?")
    private static let retain = Query("UPDATE checkpoints SET task_id = -task_id WHERE task_id = ?")
    private static let moveRetained = Query("UPDATE checkpoints SET task_id = ?2 WHERE task_id = -?1")
    private static let removeRetained = Query("DELETE FROM checkpoints WHERE task_id = -?")
    private static let removeSelectedCheckpoints = Query("DELETE FROM checkpoints WHERE task_id IN selected")
    private static let writeIntent = Query(
        """
        INSERT OR REPLACE INTO intents (task_id, device, inode, size, file_name, attempts, bytes_received, http_status,
            crc32c)
        SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM tasks WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let removeIntent = Query("DELETE FROM intents WHERE task_id = ?")
    private static let removeAcknowledgedCheckpoints = Query("DELETE FROM checkpoints WHERE task_id IN acknowledged")
    private static let removeAcknowledgedIntents = Query("DELETE FROM intents WHERE task_id IN acknowledged")
    private static let clearDevices = Query("UPDATE intents SET device = 0")
}

extension Row {
    mutating func checkpoint() -> Checkpoint? {
        let validator = Validator(
            entityTag: optionalText("entity_tag"), lastModified: optionalText("last_modified"))
        let finalURL = optionalText("checkpoints.final_url")
        let size = optionalBits("checkpoints.size")
        let offset = bits("synced_offset")
        let boot = text("boot_id")
        let facts = RepresentationMetadata(
            digest: optionalText("digest").flatMap(Checksum.init), contentEncoding: optionalText("content_encoding"),
            name: optionalText("checkpoints.file_name"))
        let (device, inode) = (optionalBits("part_device"), optionalBits("part_inode"))
        let length = optionalBits("part_length")
        let checksum = optionalBits("part_checksum").map(UInt32.init(truncatingIfNeeded:))
        let synced = optionalBits("synced_checksum").map(UInt32.init(truncatingIfNeeded:))
        guard let finalURL else { return nil }
        var part: PartFingerprint?
        if let device, let inode, let length {
            part = PartFingerprint(device: device, inode: inode, length: length, checksum: checksum)
        }
        return Checkpoint(
            validator: validator, finalURL: finalURL, size: size, syncedOffset: offset, bootID: boot, facts: facts,
            part: part, syncedChecksum: synced)
    }

    mutating func finishIntent() -> FinishIntent? {
        let device = optionalBits("intents.device")
        let inode = optionalBits("intents.inode")
        let size = optionalBits("intents.size")
        let name = optionalText("intents.file_name")
        let checksum = optionalBits("intents.crc32c").map(UInt32.init(truncatingIfNeeded:))
        guard let device, let inode, let size else { return nil }
        return FinishIntent(device: device, inode: inode, size: size, checksum: checksum, name: name)
    }
}
