public import BackhaulModel

/// Operations on the files of finished tasks. A *kept file* stays in the store, because the request has no destination.
/// A claim moves the file to a path of the host.
public struct DestinationOperations {
    let tables: Tables

    /// Returns the stored validators (ETag or Last-Modified) of the file at the destination, with the file's identity.
    /// Returns nil if no validators are stored, or if the file came from another URL.
    public func representation(
        at destination: String, of url: String, in session: SessionID
    ) throws(Failure) -> StoredRepresentation? {
        try tables.validators.find(at: destination, of: url, in: session)
    }

    /// Records that the ending task has placed this file at its destination. The validators come from the task's
    /// recorded response. The response was recorded before the file got its final name, together with the finish
    /// intent. If the response has no validators, an earlier record of the destination is removed.
    public func recordRepresentation(
        of task: TaskID, at destination: String, of url: String, in session: SessionID, inode: UInt64, size: UInt64,
        modifiedNanoseconds: Int64
    ) throws(Failure) {
        let response = try tables.requests.response(of: task)
        func value(_ name: String) -> String? {
            let values = Set((response?.headers ?? []).filter { $0.name == name }.map(\.value))
            // Of values that contradict each other, none is used.
            guard values.count == 1, let value = values.first, Self.isPlain(value) else { return nil }
            return value
        }
        let (tag, modified) = (value("ETag"), value("Last-Modified"))
        guard tag != nil || modified != nil, let finalURL = response?.finalURL else {
            return try tables.validators.remove(at: destination, in: session)
        }
        let representation = KnownRepresentation(entityTag: tag, lastModified: modified, finalURL: finalURL, size: size)
        try tables.validators.write(
            StoredRepresentation(
                representation: representation, inode: inode, modifiedNanoseconds: modifiedNanoseconds),
            at: destination, of: url, in: session)
    }

    // MARK: Names from servers

    /// Reserves the name in the directory for the task, in place of an earlier reservation. If another live task has
    /// the path, adds the next number to the name. Returns the number.
    public func reserveName(
        _ name: String, from first: Int, in directory: String, for task: TaskID
    ) throws(Failure) -> Int {
        var number = first
        while try tables.tasks.isTaken(directory + ServerFileName.numbered(name, number), exceptBy: task) {
            number += 1
        }
        try tables.tasks.reserve(directory + ServerFileName.numbered(name, number), for: task)
        return number
    }

    // MARK: Claiming

    // A host claims the kept file of a succeeded task, or the consumed file of a task that has ended without success.
    // The claimed file is moved only one time, to a path that the host chooses.

    /// Returns whether the file is already at `path`. False when the file must still be moved there. Throws notFound if
    /// the session has no such task. Throws wrongState if the task has no file in the store that can be claimed, or if
    /// the file was claimed to another path.
    public func checkClaim(_ task: TaskID, session: SessionID, path: String) throws(Failure) -> Bool {
        guard let row = try tables.tasks.claim(task), row.session == session else { throw notFoundFailure(task) }
        let isConsumed = row.state.hasEnded && row.state != .succeeded && row.path == nil
        if isConsumed, try tables.bodies.storedFile(of: task) != nil { return false }
        guard row.state == .succeeded || row.path != nil else {
            throw Failure(.wrongState, "task \(task.rawValue) has not succeeded, so it has no file to claim")
        }
        guard let place = row.path ?? row.destination else {
            guard row.kind == .download else {
                throw Failure(.wrongState, "task \(task.rawValue) is an upload, so it has no file to claim")
            }
            return false
        }
        guard place.utf8.elementsEqual(path.utf8) else {
            throw Failure(
                .wrongState, "the file of task \(task.rawValue) is not kept in the store; its path is \(place)")
        }
        return true
    }

    /// Returns the identity of the file that an interrupted claim may have moved. Nil if no claim was interrupted.
    public func claimIntent(of task: TaskID) throws(Failure) -> FinishIntent? { try tables.claims.find(task)?.intent }

    /// Records the identity of the file that a claim will rename to `path`. If an interrupted claim may have left a
    /// copy in another directory, adds the copy to the leftovers. Throws the failures of `checkClaim`.
    public func recordClaimIntent(
        _ task: TaskID, _ intent: FinishIntent, session: SessionID, path: String
    ) throws(Failure) {
        guard try !checkClaim(task, session: session, path: path) else { return }
        if let earlier = try tables.claims.find(task),
            !earlier.isCopyReplaced(byClaimTo: path, on: intent.fileSystem)
        {
            try tables.leftovers.insertCopy(ofClaimOf: task)
        }
        try tables.claims.write(intent, of: task, to: path)
    }

    /// Records that the file is at `path`, so that the event about the task's end has that path. Throws the failures of
    /// `checkClaim`. A second call has no effect.
    public func recordClaim(_ task: TaskID, path: String) throws(Failure) {
        guard let row = try tables.tasks.claim(task) else { throw notFoundFailure(task) }
        guard try !checkClaim(task, session: row.session, path: path) else { return }
        try tables.tasks.setPath(path, of: task)
        try tables.claims.remove(of: task)
        if let file = try tables.bodies.storedFile(of: task) { try tables.bodies.forgetStored(file, of: task) }
    }

    private func notFoundFailure(_ task: TaskID) -> Failure {
        Failure(.notFound, "the session has no task \(task.rawValue); an acknowledged one is gone with its kept file")
    }

    /// Whether the value is short enough to be stored and sent with every request, and has only printable ASCII.
    private static func isPlain(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
