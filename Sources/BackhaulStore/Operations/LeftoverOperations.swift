public import BackhaulModel

/// Operations on the list of leftovers: part files and kept files that must be removed. When a transaction makes a file
/// superfluous, the same transaction adds the file to the list. So the file is removed even after a crash. Files of
/// request bodies have a list of their own (`BodyTable`).
public struct LeftoverOperations {
    let tables: Tables

    /// Returns the next files of the list. `last`: the last file that the previous call has returned.
    public func all(after last: Leftover? = nil, limit: Int) throws(Failure) -> [Leftover] {
        try tables.leftovers.all(after: last, limit: limit)
    }

    /// Removes the files from the list, because they were deleted.
    public func forget(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try tables.leftovers.remove(leftover) }
    }

    /// Returns the tag of the store: eight hexadecimal digits, which never change. The names of the store's part files
    /// contain the tag. So these names differ from the names of other stores' part files.
    public func storeTag() throws(Failure) -> String { try tables.meta.storeTag() }

    /// Adds the part files of the tasks in the temporary table `selected`. Their snapshots of bodies are added to the
    /// list of `BodyTable`.
    func addFilesOfSelected() throws(Failure) {
        try tables.leftovers.insertPartsOfSelected()
        try tables.bodies.addSnapshotsOfSelected()
    }
}
