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
}

/// The transaction that makes a file superfluous lists it, so that a crash before its removal leaves nothing behind.
extension Transaction {
    public func leftovers(limit: Int) throws(Failure) -> [Leftover] {
        try connection.all(Self.selectLeftovers, .integer(Int64(clamping: limit))) { row throws(Failure) in
            let task = row.taskID()
            let isKept = row.integer() == Self.kept
            let destination = row.optionalText()
            return Leftover(task: task, kind: isKept ? .kept : .part(destinationPath: destination))
        }
    }

    /// They are removed, or cannot be.
    public func forgetLeftovers(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try connection.run(Self.forgetLeftover, .id(leftover.task)) }
    }

    /// Eight hexadecimal digits that tell this store's part files from those of others, for ever.
    public func storeTag() throws(Failure) -> String {
        let known = try connection.first(Self.selectTag) { row throws(Failure) in row.text() }
        if let known { return known }
        try connection.run(Self.makeTag)
        return try connection.first(Self.selectTag) { row throws(Failure) in row.text() } ?? ""
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
        "SELECT task_id, kind, destination FROM leftovers ORDER BY task_id LIMIT ?")
    private static let forgetLeftover = Query("DELETE FROM leftovers WHERE task_id = ?")
    private static let leaveParts = Query(
        "INSERT OR REPLACE INTO leftovers SELECT id, 1, destination FROM tasks WHERE id IN selected")
    private static let leaveOneKept = Query("INSERT OR REPLACE INTO leftovers VALUES (?, 2, NULL)")
    private static let selectTag = Query("SELECT value FROM meta WHERE key = 'tag'")
    private static let makeTag = Query("INSERT INTO meta VALUES ('tag', lower(hex(randomblob(4))))")
}
