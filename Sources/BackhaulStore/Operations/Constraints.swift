public import BackhaulModel

/// What tasks have stated for themselves is kept once for all of a session that have stated the same.
extension Transaction {
    /// The number of these constraints in the session, which are kept if they are not yet. Throws tooMany when the
    /// session's tasks state `Limits.constraintsCount` different ones; what no task states any more is removed first.
    public func constraintsID(
        for constraints: TaskConstraints, in session: SessionID
    ) throws(Failure) -> ConstraintsID {
        if let found = try findConstraints(constraints, in: session) { return found }
        // One that is past its latest start has been stated before, and must not fail now.
        if !constraints.isPastLatestStart { try makeRoomForConstraints(of: session) }
        return try tables.constraints.insert(constraints, in: session)
    }

    /// Nil when no task has stated them.
    func findConstraints(
        _ constraints: TaskConstraints, in session: SessionID
    ) throws(Failure) -> ConstraintsID? {
        guard constraints != TaskConstraints() else { return .session }
        return try tables.constraints.find(constraints, in: session)
    }

    /// Nothing when there are none with that number.
    func constraints(_ id: ConstraintsID) throws(Failure) -> TaskConstraints {
        guard id != .session else { return TaskConstraints() }
        return try tables.constraints.stored(id)?.constraints ?? TaskConstraints()
    }

    /// What is stated under these numbers; of one that there is none of, nothing.
    public func statedConstraints(_ ids: Set<ConstraintsID>) throws(Failure) -> [StoredConstraints] {
        var found: [StoredConstraints] = []
        for id in ids where id != .session {
            if let stored = try tables.constraints.stored(id) { found.append(stored) }
        }
        return found
    }

    private func makeRoomForConstraints(of session: SessionID) throws(Failure) {
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        try tables.constraints.removeUnused(of: session)
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        throw Failure(
            .tooMany,
            "the session's tasks state \(Limits.constraintsCount) different constraints already; "
                + "give tasks the same ones, or state them for sessions")
    }
}
