public import BackhaulModel

/// A file that no task needs any more.
public struct Leftover: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The part file of a cancelled task; nil: in the store's folder of kept files.
        case part(destinationPath: String?)
        /// The kept file of a task that was acknowledged unclaimed.
        case kept
    }

    public var task: TaskID
    public var kind: Kind
    /// In the part file's name.
    public var part: UInt64 = 0
}

/// The transaction that makes a file superfluous lists it, so that a crash before its removal leaves nothing behind.
extension Transaction {
    public func leftovers(limit: Int) throws(Failure) -> [Leftover] {
        try connection.all(Self.selectLeftovers, .integer(Int64(clamping: limit))) { row throws(Failure) in
            let task = row.taskID()
            let isKept = row.integer() == Self.kept
            let destination = row.optionalText()
            return Leftover(
                task: task, kind: isKept ? .kept : .part(destinationPath: destination), part: row.bits())
        }
    }

    /// They are removed, or cannot be.
    public func forgetLeftovers(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try connection.run(Self.forgetLeftover, .id(leftover.task), .bits(leftover.part)) }
    }

    /// Eight hexadecimal digits that tell this store's part files from those of others, for ever.
    public func storeTag() throws(Failure) -> String {
        let known = try connection.first(Self.selectTag) { row throws(Failure) in row.text() }
        if let known { return known }
        try connection.run(Self.makeTag)
        return try connection.first(Self.selectTag) { row throws(Failure) in row.text() } ?? ""
    }

    /// The task gets another part file, and starts over: something that cannot be stopped may still change the old one.
    /// Not when that is sealed, for then it is the file.
    public func renewPart(of task: TaskID) throws(Failure) {
        try connection.run(Self.leaveOnePart, .id(task))
        guard connection.changes == 1 else { return }
        try connection.run(Self.renewPart, .id(task))
        try forgetProgress(task)
    }

    func leavePartsOfSelectedTasks() throws(Failure) {
        try connection.run(Self.leaveParts)
        try leaveSnapshotsOfSelectedTasks()
    }

    func leaveKept(_ tasks: [TaskID]) throws(Failure) {
        for task in tasks { try connection.run(Self.leaveOneKept, .id(task)) }
    }

    private static let kept: Int64 = 2
    private static let selectLeftovers = Query(
        "SELECT task_id, kind, destination, part FROM leftovers ORDER BY task_id LIMIT ?")
    private static let forgetLeftover = Query("DELETE FROM leftovers WHERE task_id = ? AND part = ?")
    private static let leaveParts = Query(
        "INSERT OR REPLACE INTO leftovers SELECT id, 1, destination, part FROM tasks WHERE id IN selected")
    private static let leaveOneKept = Query("INSERT OR REPLACE INTO leftovers VALUES (?, 2, NULL, 0)")
    private static let leaveOnePart = Query(
        """
        INSERT OR REPLACE INTO leftovers SELECT id, 1, destination, part FROM tasks
        WHERE id = ? AND ended_ms IS NULL AND NOT EXISTS (SELECT 1 FROM intents WHERE task_id = id)
        """)
    private static let renewPart = Query("UPDATE tasks SET part = random() WHERE id = ?")
    private static let selectTag = Query("SELECT value FROM meta WHERE key = 'tag'")
    private static let makeTag = Query("INSERT INTO meta VALUES ('tag', lower(hex(randomblob(4))))")
}
