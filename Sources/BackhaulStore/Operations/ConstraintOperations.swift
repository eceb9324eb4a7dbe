public import BackhaulModel

/// What tasks have stated for themselves is kept once for all of a session that have stated the same.
public struct ConstraintOperations {
    let tables: Tables

    /// The number of these constraints in the session, which are kept if they are not yet. Throws tooMany when the
    /// session's tasks state `Limits.constraintsCount` different ones; what no task states any more is removed first.
    @inline(never)
    public func id(for constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID {
        if let found = try findID(constraints, in: session) { return found }
        // One that is past its latest start has been stated before, and must not fail now.
        if !constraints.isPastLatestStart { try makeRoom(of: session) }
        return try tables.constraints.insert(constraints, in: session)
    }

    /// Nil when no task has stated them.
    func findID(_ constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID? {
        guard constraints != TaskConstraints() else { return .session }
        return try tables.constraints.find(constraints, in: session)
    }

    /// Nothing when there are none with that number.
    func value(of id: ConstraintsID) throws(Failure) -> TaskConstraints {
        guard id != .session else { return TaskConstraints() }
        return try tables.constraints.stored(id)?.constraints ?? TaskConstraints()
    }

    /// What is stated under these numbers; of one that there is none of, nothing.
    public func stored(_ ids: Set<ConstraintsID>) throws(Failure) -> [StoredConstraints] {
        var found: [StoredConstraints] = []
        for id in ids where id != .session {
            if let stored = try tables.constraints.stored(id) { found.append(stored) }
        }
        return found
    }

    /// What the tasks of the selection have stated is replaced; whether their latest start is past stays.
    func restateSelected(_ stated: Constraints, of session: SessionID) throws(Failure) -> RestatedTasks {
        var restated = RestatedTasks()
        var after: [ConstraintsID: ConstraintsID] = [:]
        for before in try tables.selectedTasks.constraints() {
            let isPast = try value(of: before).isPastLatestStart
            let constraints = TaskConstraints(stated, isPastLatestStart: isPast)
            after[before] = try restate(constraints, in: session, &restated)
        }
        for (task, before) in try tables.selectedTasks.withConstraints() {
            guard let constraints = after[before] else { continue }
            restated.tasks[task] = constraints
            try tables.delays.setConstraints(constraints, of: task)
        }
        return restated
    }

    @inline(never)
    func restate(
        _ constraints: TaskConstraints, in session: SessionID, _ restated: inout RestatedTasks
    ) throws(Failure) -> ConstraintsID {
        let id = try self.id(for: constraints, in: session)
        if id != .session {
            restated.constraints[id] = StoredConstraints(id: id, session: session, constraints: constraints)
        }
        return id
    }

    private func makeRoom(of session: SessionID) throws(Failure) {
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        try tables.constraints.removeUnused(of: session)
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        throw Failure(
            .tooMany,
            "the session's tasks state \(Limits.constraintsCount) different constraints already; "
                + "give tasks the same ones, or state them for sessions")
    }
}
