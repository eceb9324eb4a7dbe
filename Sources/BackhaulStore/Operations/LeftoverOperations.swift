public import BackhaulModel

/// Files to remove. The transaction that makes a file superfluous lists it, so that the file is removed even after a
/// crash.
public struct LeftoverOperations {
    let tables: Tables
    private var bodies: BodyOperations { BodyOperations(tables: tables) }

    public func all(limit: Int) throws(Failure) -> [Leftover] { try tables.leftovers.all(limit: limit) }

    /// Removes the files from the list, because they were removed or cannot be.
    public func forget(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try tables.leftovers.remove(leftover) }
    }

    /// Eight hexadecimal digits that distinguish this store's part files from those of other stores. They never change.
    public func storeTag() throws(Failure) -> String { try tables.meta.storeTag() }

    func addPartFilesOfSelected() throws(Failure) {
        try tables.leftovers.insertPartsOfSelected()
        try bodies.addSnapshotsOfSelected()
    }
}
