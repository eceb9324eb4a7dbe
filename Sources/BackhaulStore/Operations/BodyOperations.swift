public import BackhaulModel

/// Files of request bodies that lie in the store: snapshots until their task ends, consumed files until it has
/// succeeded, or its event is acknowledged and they are given back.
public struct BodyOperations {
    let tables: Tables

    /// Their old names are to be removed, if they are still what was handed over.
    public func recordConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files { try tables.bodies.insertConsumed(file) }
    }

    public func consumed(after path: String = "", limit: Int) throws(Failure) -> [BodyFile] {
        try tables.bodies.consumed(after: path, limit: limit)
    }

    public func forgetConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files { try tables.bodies.removeConsumed(file.path) }
    }

    public func leftovers(limit: Int) throws(Failure) -> [String] { try tables.bodies.leftovers(limit: limit) }

    public func forgetLeftovers(_ names: [String]) throws(Failure) {
        for name in names { try tables.bodies.removeLeftover(name) }
    }

    /// Those of the names that stand nowhere.
    public func unknown(among names: [String]) throws(Failure) -> [String] {
        var unknown: [String] = []
        for name in names where try !tables.bodies.isKnown(name) { unknown.append(name) }
        return unknown
    }

    /// Those of the names that no task needs, as leftovers: an engine has ended before their tasks were made.
    public func addLeftovers(among names: [String]) throws(Failure) {
        for name in names { try tables.bodies.insertLeftoverIfUnused(name) }
    }

    /// True when there is something to be removed.
    func addLeftovers(of task: TaskID, hasSucceeded: Bool) throws(Failure) -> Bool {
        let names = try tables.bodies.stored(of: task, snapshotsOnly: !hasSucceeded)
        guard !names.isEmpty else { return false }
        for name in names { try tables.bodies.insertLeftover(name) }
        try tables.bodies.forgetStored(of: task)
        return true
    }

    func addSnapshotsOfSelected() throws(Failure) {
        guard try tables.bodies.storesAny() else { return }
        try tables.bodies.insertSnapshotsOfSelected()
    }

    /// Of a task that has not succeeded: name and size.
    public func consumedFile(of task: TaskID) throws(Failure) -> (name: String, size: UInt64)? {
        try tables.bodies.storedFile(of: task)
    }

    // MARK: Giving back

    /// Consumed files of tasks that have not succeeded go back to where they were. They are listed by the transaction
    /// that forgets their task, and stay listed until they are given back.
    ///
    /// By name, those with greater names. Not those whose old name is still to be removed: that would remove the file
    /// that was given back.
    public func toReturn(after name: String, limit: Int) throws(Failure) -> [ReturnedBody] {
        try tables.bodies.toReturn(after: name, limit: limit)
    }

    public func forgetReturned(_ names: [String]) throws(Failure) {
        for name in names { try tables.bodies.removeToReturn(name) }
    }

    /// True when there are such. A task that has succeeded has left its files already, and so has a snapshot.
    func addReturnsOfSelectedEvents() throws(Failure) -> Bool {
        guard try tables.bodies.storesAny() else { return false }
        return try tables.bodies.insertToReturnOfSelected()
    }
}
