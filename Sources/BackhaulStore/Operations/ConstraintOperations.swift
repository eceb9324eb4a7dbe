public import BackhaulModel

/// Operations on the constraints of single tasks. The constraints of a task apply in addition to the constraints of its
/// session. All tasks of a session with equal constraints share one row.
public struct ConstraintOperations {
    let tables: Tables

    /// Returns the id of these constraints in the session, and inserts a row if there is none. Throws tooMany when the
    /// session's tasks already have `Limits.constraintsCount` different constraints. Unused rows are removed before
    /// this check.
    public func id(for constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID {
        if let found = try findID(constraints, in: session) { return found }
        // After the latest start of a task, presets (names for several constraints) do not delay the task any more, so
        // the task gets new constraints. The limit does not apply to the new constraints, because they replace
        // constraints that were accepted before.
        if !constraints.isPastLatestStart { try enforceLimit(of: session) }
        return try tables.constraints.insert(constraints, in: session)
    }

    /// Returns the id of the constraints, or nil when the session does not have them.
    func findID(_ constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID? {
        guard constraints != TaskConstraints() else { return .session }
        return try tables.constraints.find(constraints, in: session)
    }

    /// Returns the constraints with this id. If no row has the id, returns a value without constraints.
    func value(of id: ConstraintsID) throws(Failure) -> TaskConstraints {
        guard id != .session else { return TaskConstraints() }
        return try tables.constraints.stored(id)?.constraints ?? TaskConstraints()
    }

    /// Returns the rows with these ids. Ids without a row are left out.
    public func stored(_ ids: Set<ConstraintsID>) throws(Failure) -> [StoredConstraints] {
        var found: [StoredConstraints] = []
        for id in ids where id != .session {
            if let stored = try tables.constraints.stored(id) { found.append(stored) }
        }
        return found
    }

    /// Replaces the constraints of the selected tasks. If a task was marked as past its latest start, it keeps this
    /// mark.
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

    func restate(
        _ constraints: TaskConstraints, in session: SessionID, _ restated: inout RestatedTasks
    ) throws(Failure) -> ConstraintsID {
        let id = try self.id(for: constraints, in: session)
        if id != .session {
            restated.constraints[id] = StoredConstraints(id: id, session: session, constraints: constraints)
        }
        return id
    }

    private func enforceLimit(of session: SessionID) throws(Failure) {
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        try tables.constraints.removeUnused(of: session)
        guard try tables.constraints.count(of: session) >= Limits.constraintsCount else { return }
        throw Failure(
            .tooMany,
            "the session's tasks state \(Limits.constraintsCount) different constraints already; "
                + "give tasks the same ones, or state them for sessions")
    }
}
