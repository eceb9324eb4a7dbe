internal import BackhaulModel

/// Ends rounds and groups.
struct RoundOperations {
    let tables: Tables

    /// Counts the tasks that have just ended, for their session and for their groups. The events of these tasks have
    /// ids up to `newest`. When all tasks of a group or of the session have ended, inserts the event that ends the
    /// group or the round. Returns the id of the newest event, and whether the round has ended.
    @discardableResult
    func settle(
        _ session: SessionID, ended: Int64, newest: EventID, groups: [GroupEnds], now: Int64
    ) throws(Failure) -> (newestEvent: EventID, isRoundOver: Bool) {
        var newest = newest
        var events = ended
        for group in groups {
            guard let event = try settle(group, of: session, now: now) else { continue }
            newest = event
            events += 1
        }
        try tables.sessions.count(ended: ended, events: events, newest: newest, in: session)
        // The end of a task that was set aside may find no open round.
        guard let live = try tables.sessions.liveTasks(of: session), live.isRoundOpen, live.count == 0 else {
            return (newest, false)
        }
        newest = try tables.events.insertFinished(session, round: live.round, now: now)
        try tables.sessions.closeRound(of: session, newest: newest)
        return (newest, true)
    }

    /// Counts tasks that were added to the session, for the round `round.next`. If this opens the round, the
    /// unacknowledged event about the end of the last round is *withdrawn* (removed): a host that reads it would not
    /// wait for the new tasks. Returns whether an event was withdrawn.
    func add(_ tasks: Int64, to session: SessionID, _ round: SessionRound) throws(Failure) -> Bool {
        try tables.sessions.count(enqueued: tasks, in: session, round: round.next)
        guard !round.isOpen else { return false }
        let events = try tables.events.removeFinished(session)
        if events > 0 { try tables.sessions.subtract(events: events, in: session) }
        return events > 0
    }

    /// Counts the selected tasks that were set aside as unfinished tasks of the open round again, because they are
    /// resumed. If no round is open, opens the next round. Returns whether this withdrew an event, as `add` does.
    func bringBackSelected(to session: SessionID) throws(Failure) -> Bool {
        let count = try tables.selectedTasks.countAside()
        guard count > 0, let round = try tables.sessions.round(of: session) else { return false }
        try tables.sessions.count(aside: -count, in: session)
        let withdrawsEnd = try add(0, to: session, round)
        for group in try tables.selectedTasks.groups(endingAs: .waiting, areAside: true) {
            try tables.groups.count(enqueued: group.count, in: group.group)
        }
        try tables.selectedTasks.setRoundOfAside(round.next)
        return withdrawsEnd
    }

    /// Counts the ended tasks of one group. If all tasks of the group have ended, inserts the `group finished` event
    /// and returns its id.
    private func settle(_ ends: GroupEnds, of session: SessionID, now: Int64) throws(Failure) -> EventID? {
        guard try tables.groups.count(ends) == 0 else { return nil }
        guard let finished = try tables.groups.finish(ends.group) else { return nil }
        let round = try tables.sessions.liveTasks(of: session)?.round ?? 0
        return try tables.events.insertFinished(finished, in: session, round: round, now: now)
    }
}
