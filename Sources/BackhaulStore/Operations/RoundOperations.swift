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

    /// Counts the selected tasks that were set aside as unfinished tasks of the open round again, because they are
    /// resumed. If no round is open, opens the next round.
    func bringBackSelected(to session: SessionID) throws(Failure) {
        let count = try tables.selectedTasks.countAside()
        guard count > 0, let round = try tables.sessions.round(of: session) else { return }
        let number = round.isOpen ? round.number : round.number &+ 1
        try tables.sessions.count(aside: -count, in: session)
        try tables.sessions.count(enqueued: 0, in: session, round: number)
        for group in try tables.selectedTasks.groups(endingAs: .waiting, areAside: true) {
            try tables.groups.count(enqueued: group.count, in: group.group)
        }
        try tables.selectedTasks.setRoundOfAside(number)
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
