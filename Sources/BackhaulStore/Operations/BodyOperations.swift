public import BackhaulModel

/// Operations on the files that uploads send, if these files are in the *store* (the directory with all durable data).
/// A *host* is a program that embeds the library. A *snapshot* is a copy of a host's file, and stays until its task
/// ends. A *consumed file* is a host's file that was moved into the store, and stays until its task succeeds. If the
/// task does not succeed, the file is moved back to its old path. This happens after the host has acknowledged the
/// event about the task's end.
public struct BodyOperations {
    let tables: Tables

    /// Records consumed files whose old paths must be removed. A path is removed only if it still leads to the same
    /// file.
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

    /// Returns the names that no row of the database contains.
    public func unknown(among names: [String]) throws(Failure) -> [String] {
        var unknown: [String] = []
        for name in names where try !tables.bodies.isKnown(name) { unknown.append(name) }
        return unknown
    }

    /// Checks each name. If no task uses the name, adds the name to the *leftovers*, which are files to remove. Such
    /// files exist if an engine (the process that makes tasks) has ended before it made the tasks for these files.
    public func addLeftovers(among names: [String]) throws(Failure) {
        for name in names { try tables.bodies.insertLeftoverIfUnused(name) }
    }

    /// Adds files of an ended task to the leftovers: its snapshots, and after a success also its consumed files.
    /// Returns whether the task has such files.
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

    /// Returns the name of the consumed file of a task that has not succeeded, or nil if the task has no such file.
    public func consumedFile(of task: TaskID) throws(Failure) -> String? {
        try tables.bodies.storedFile(of: task)
    }

    // MARK: Files that are moved back

    /// Consumed files of tasks that have not succeeded are moved back to their old paths. The transaction that removes
    /// such a task adds the task's files to a list. A file stays in the list until it is moved back.
    ///
    /// Returns the listed files with names greater than `name`, sorted by name. A file is left out while its old path
    /// must still be removed, because that removal would delete the file that was moved back.
    public func bodiesToReturn(after name: String, limit: Int) throws(Failure) -> [ReturnedBody] {
        try tables.bodies.bodiesToReturn(after: name, limit: limit)
    }

    public func forgetReturned(_ names: [String]) throws(Failure) {
        for name in names { try tables.bodies.removeToReturn(name) }
    }

    /// Adds the consumed files of the selected events' tasks to the list, and returns whether there are any. When a
    /// task ends, the names of its snapshots are removed from `body_parts`. If the task has succeeded, the names of its
    /// consumed files are removed, too. So the stored files that `body_parts` still names must be moved back.
    func addReturnsOfSelectedEvents() throws(Failure) -> Bool {
        guard try tables.bodies.storesAny() else { return false }
        return try tables.bodies.insertToReturnOfSelected()
    }
}
