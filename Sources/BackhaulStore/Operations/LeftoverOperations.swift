public import BackhaulModel

/// Operations on the list of files that must be removed, because no task needs them any more (*leftovers*): part files
/// and kept files. The transaction after which no task needs a file adds the file to the list. So the file is removed
/// even after a crash. Files of request bodies have a list of their own (`BodyTable`).
public struct LeftoverOperations {
    let tables: Tables

    /// Returns the next files of the list. `last`: the last file that the previous call has returned.
    public func all(after last: Leftover? = nil, limit: Int) throws(Failure) -> [Leftover] {
        try tables.leftovers.all(after: last, limit: limit)
    }

    /// Adds the part file of a task that ends in this transaction. The engine could not remove the file, because its
    /// file system is away.
    public func addUnremovedPart(of task: TaskID) throws(Failure) { try tables.leftovers.insertUnremovedPart(of: task) }

    /// Removes the files from the list, because they were deleted.
    public func forget(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try tables.leftovers.remove(leftover) }
    }

    /// Adds the part files of the tasks in the temporary table `selected`. Their snapshots of bodies are added to the
    /// list of `BodyTable`.
    func addFilesOfSelected() throws(Failure) {
        try tables.leftovers.insertPartsOfSelected()
        try tables.bodies.addSnapshotsOfSelected()
    }
}
