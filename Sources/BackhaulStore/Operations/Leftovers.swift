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
    public func leftovers(limit: Int) throws(Failure) -> [Leftover] { try tables.leftovers.all(limit: limit) }

    /// They are removed, or cannot be.
    public func forgetLeftovers(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try tables.leftovers.remove(leftover) }
    }

    /// Eight hexadecimal digits that tell this store's part files from those of others, for ever.
    public func storeTag() throws(Failure) -> String { try tables.meta.storeTag() }

    /// The task gets another part file, and starts over: something that cannot be stopped may still change the old one.
    /// Not when that is sealed, for then it is the file.
    public func renewPart(of task: TaskID) throws(Failure) {
        guard try tables.leftovers.insertPart(of: task) else { return }
        try tables.tasks.renewPart(of: task)
        try forgetProgress(task)
    }

    func leavePartsOfSelectedTasks() throws(Failure) {
        try tables.leftovers.insertPartsOfSelected()
        try leaveSnapshotsOfSelectedTasks()
    }
}
