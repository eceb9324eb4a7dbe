public import BackhaulModel

/// Claiming: the kept file of a succeeded task is moved to a path of the host's, once.
extension Transaction {
    /// False when the kept file is still to be moved to `path`; true when it is there already. Throws notFound, or
    /// wrongState for a task that has not succeeded, was not kept, or whose file was claimed elsewhere.
    public func checkClaim(_ task: TaskID, session: SessionID, path: String) throws(Failure) -> Bool {
        guard let row = try claimedRow(task), row.session == session else { throw noTask(task) }
        let isConsumed = row.state.hasEnded && row.state != .succeeded && row.path == nil
        if isConsumed, try consumedFile(of: task) != nil { return false }
        guard row.state == .succeeded || row.path != nil else {
            throw Failure(.wrongState, "task \(task.rawValue) has not succeeded; only a whole file can be claimed")
        }
        guard let place = row.path ?? row.destination else { return false }
        guard place.utf8.elementsEqual(path.utf8) else {
            throw Failure(
                .wrongState, "the file of task \(task.rawValue) is not kept in the store; it lies at \(place)")
        }
        return true
    }

    /// The file lies at `path` now, and its event says so. Throws as `checkClaim`; harmless when repeated.
    public func recordClaim(_ task: TaskID, path: String) throws(Failure) {
        guard let row = try claimedRow(task) else { throw noTask(task) }
        let isDone = try checkClaim(task, session: row.session, path: path)
        if !isDone {
            try connection.run(Self.writePath, .id(task), .text(path))
            try forgetConsumedFile(of: task)
        }
    }

    private func claimedRow(
        _ task: TaskID
    ) throws(Failure) -> (session: SessionID, state: TaskState, path: String?, destination: String?)? {
        try connection.first(Self.select, .id(task)) { row throws(Failure) in
            (row.sessionID(), row.state(), row.optionalText(), row.optionalText())
        }
    }

    private func noTask(_ task: TaskID) -> Failure {
        Failure(.notFound, "the session has no task \(task.rawValue); an acknowledged one is gone with its kept file")
    }

    private static let select = Query("SELECT session_id, state, path, destination FROM tasks WHERE id = ?")
    private static let writePath = Query("UPDATE tasks SET path = ?2 WHERE id = ?1")
}
