public import BackhaulModel

/// Lanes and groups have a row while a task is in them.
extension Transaction {
    /// Lanes with tasks that may run now.
    public func lanesWithWaitingTasks() throws(Failure) -> [Lane] { try tables.lanes.ready() }

    /// Nil when it has no task any more.
    public func lane(_ id: LaneID) throws(Failure) -> Lane? { try tables.lanes.lane(id) }

    /// Whether there is a task that starts without a command, now or after a delay. One that waits for a credential
    /// does not: should its time be over, the next engine finds out.
    public func tasksWait() throws(Failure) -> Bool { try tables.sessions.anyStarts() }

    func findOrMakeLane(_ session: SessionID, _ origin: Origin) throws(Failure) -> LaneID {
        if let found = try tables.lanes.find(session, origin) { return found }
        return try tables.lanes.insert(session, origin)
    }

    /// Lanes that have no task of any state left.
    func removeEmptyLanes(among lanes: Set<LaneID>) throws(Failure) {
        for lane in lanes { try tables.lanes.removeIfEmpty(lane) }
    }

    func findOrMakeGroup(_ name: String, of session: SessionID) throws(Failure) -> GroupID {
        if let group = try tables.groups.find(name, in: session) { return group }
        return try tables.groups.insert(name, in: session)
    }

    /// Groups that have no task of any state left.
    func removeEmptyGroups(among groups: some Sequence<GroupID>) throws(Failure) {
        for group in groups { try tables.groups.removeIfEmpty(group) }
    }
}
