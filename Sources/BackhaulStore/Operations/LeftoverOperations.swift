public import BackhaulModel

/// The transaction that makes a file superfluous lists it, so that a crash before its removal leaves nothing behind.
public struct LeftoverOperations {
    let tables: Tables
    private var bodies: BodyOperations { BodyOperations(tables: tables) }

    public func all(limit: Int) throws(Failure) -> [Leftover] { try tables.leftovers.all(limit: limit) }

    /// They are removed, or cannot be.
    public func forget(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers { try tables.leftovers.remove(leftover) }
    }

    /// Eight hexadecimal digits that tell this store's part files from those of others, for ever.
    public func storeTag() throws(Failure) -> String { try tables.meta.storeTag() }

    func addPartsOfSelected() throws(Failure) {
        try tables.leftovers.insertPartsOfSelected()
        try bodies.addSnapshotsOfSelected()
    }
}
