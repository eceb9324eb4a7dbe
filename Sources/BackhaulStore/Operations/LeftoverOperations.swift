public import BackhaulModel

/// Operations on the list of files that must be removed, because no task needs them any more (*leftovers*): part files,
/// kept files, and copies of interrupted claims. The transaction after which no task needs a file adds the file to the
/// list. So the file is removed even after a crash. Files of request bodies have a list of their own (`BodyTable`).
public struct LeftoverOperations {
    let tables: Tables

    /// Returns the next files of the list, without parts that are still retained. `last`: the last file that the
    /// previous call has returned. `now`: Unix milliseconds.
    public func page(after last: Leftover? = nil, now: Int64, limit: Int) throws(Failure) -> LeftoverPage {
        LeftoverPage(
            files: try tables.leftovers.all(after: last, now: now, limit: limit),
            nextRemoval: try tables.leftovers.nextRemoval(now: now))
    }

    /// Adds the part file of a task that ends in this transaction. The engine could not remove the file, for example
    /// because its file system is away.
    public func addUnremovedPart(of task: TaskID) throws(Failure) { try tables.leftovers.insertUnremovedPart(of: task) }

    /// Removes the files from the list, because they were deleted.
    public func forget(_ leftovers: [Leftover]) throws(Failure) {
        for leftover in leftovers {
            try tables.leftovers.remove(leftover)
            if leftover.isRetained { try tables.parts.removeRetainedCheckpoint(of: leftover.task) }
        }
    }

    /// Retains the part file of a task that fails in this transaction, and its checkpoint. A later task of the session
    /// with the same destination and idempotency key continues the file, until the time (Unix milliseconds) has come.
    public func retainPart(of task: TaskID, until time: Int64) throws(Failure) {
        try tables.leftovers.insertRetainedPart(of: task, until: time)
        try tables.parts.retainCheckpoint(of: task)
    }

    /// Gives a new task the retained part file of an earlier task, if there is one for its destination and key. A part
    /// on another file system, which is perhaps away, is not given.
    func continuePart(with task: TaskID, _ request: Request, in session: SessionID, now: Int64) throws(Failure) {
        guard let key = request.idempotencyKey, let destination = request.destination, request.method == "GET",
            request.options.range == nil,
            let found = try tables.leftovers.retained(key, destination.path, in: session, now: now),
            found.fileSystem == destination.fileSystem
        else { return }
        try tables.tasks.setPart(found.part, of: task)
        try tables.parts.moveRetainedCheckpoint(of: found.task, to: task)
        try tables.leftovers.remove(found)
    }

    /// Adds the part files and kept files of the tasks in the temporary table `selected`. Their snapshots of bodies are
    /// added to the list of `BodyTable`.
    func addFilesOfSelected() throws(Failure) {
        try tables.leftovers.insertFilesOfSelected()
        try tables.bodies.addSnapshotsOfSelected()
    }
}
