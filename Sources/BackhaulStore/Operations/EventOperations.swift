public import BackhaulModel

/// Operations on events, which are stored messages for a host. The host reads events with a poll. Until the host
/// acknowledges an event, later polls can return this event again. When the host acknowledges the event, it is deleted.
/// If the event reports the end of a task, this task is deleted, too.
public struct EventOperations {
    let tables: Tables
    private var history: HistoryOperations { HistoryOperations(tables: tables) }
    private var sessions: SessionOperations { SessionOperations(tables: tables) }

    /// Returns up to `maximum` events with ids greater than `after`, sorted by id. The result ends early when its
    /// events have `Limits.chunkSize` bytes together. `more` is true if further events exist.
    public func poll(
        _ session: SessionID, after: EventID, maximum: Int
    ) throws(Failure) -> (events: [Event], more: Bool) {
        let maximum = min(max(0, maximum), Limits.batchCount)
        var page = ListingPage<(event: Event, challenge: ChallengeID?)>(maximum: maximum)
        try tables.events.each(of: session, after: after, limit: page.limit, tables.directory) { event, challenge in
            page.add((event, challenge), size: event.size)
        }
        var events: [Event] = []
        for (var event, challenge) in page.items {
            if let challenge { event.kind = .challenge(try tables.challenges.find(challenge)) }
            events.append(event)
        }
        return (events, page.more)
    }

    /// Returns the number of unacknowledged events with ids up to `id`.
    public func count(of session: SessionID, through id: EventID) throws(Failure) -> UInt64 {
        try tables.events.count(of: session, through: id)
    }

    /// Deletes the events, and the ended tasks of these events. Ids without an event are skipped. Throws
    /// invalidArgument if an id is greater than the id of the newest event.
    public func acknowledge(
        _ session: SessionID, _ acknowledgement: Acknowledgement
    ) throws(Failure) -> Change {
        var change = try tables.sessions.change(in: session)
        // The selected events are in a temporary table, so each step is one statement for any number of events.
        let count = try select(acknowledgement, of: session, newest: change.newestEvent)
        guard count > 0 else { return change }
        change.removedKept = try tables.events.unclaimedTasksOfSelected()
        for task in change.removedKept { try tables.leftovers.insertKept(task) }
        change.returnsBodies = try tables.bodies.addReturnsOfSelectedEvents()
        let places = try tables.events.placesOfSelected()
        // Idempotency keys of succeeded tasks stay until the host acknowledges the event about the end of the round.
        try tables.delivered.insertSelected()
        try tables.delivered.removeFinishedRounds(of: session)
        let remembered = try history.addSelected(session, selected: count)
        try tables.selection.fillAcknowledged()
        change.hasLeftoverCopies = try tables.leftovers.insertCopiesOfAcknowledged()
        try removeAcknowledgedTasks()
        try tables.events.removeSelected()
        try tables.sessions.subtract(events: count, history: remembered, in: session)
        try tables.lanes.removeEmpty(among: places.lanes)
        try tables.groups.removeEmpty(among: places.groups)
        try tables.selection.clear()
        change.count = UInt64(clamping: count)
        change.sessionRemoved = try sessions.removeIfFinished(session)
        return change
    }

    /// Removes the tasks in the temporary table `acknowledged`, and the rows that describe these tasks. Does not remove
    /// the events, the history, or the lists of files that must still be deleted or moved back.
    private func removeAcknowledgedTasks() throws(Failure) {
        try tables.requests.removeOfAcknowledged()
        try tables.options.removeOfAcknowledged()
        try tables.parts.removeOfAcknowledged()
        try tables.uploads.removeOfAcknowledged()
        try tables.dependencies.removeOfAcknowledged()
        try tables.bodies.removeOfAcknowledged()
        try tables.claims.removeOfAcknowledged()
        try tables.refreshes.removeOfAcknowledged()
        try tables.tasks.removeAcknowledged()
    }

    /// Selects the acknowledged events that exist. Returns the number of selected events.
    private func select(
        _ acknowledgement: Acknowledgement, of session: SessionID, newest: EventID
    ) throws(Failure) -> Int64 {
        let greatest = acknowledgement.greatest
        guard greatest <= newest else {
            throw Failure(
                .invalidArgument,
                "there is no event \(greatest.rawValue) in the session; its newest is \(newest.rawValue)")
        }
        switch acknowledgement {
        case .ids(let ids): return try tables.selection.select(ids, of: session)
        case .through(let id): return try tables.selection.select(through: id, of: session)
        }
    }
}
