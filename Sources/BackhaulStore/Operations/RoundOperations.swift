internal import BackhaulModel

/// Ends of rounds and groups.
struct RoundOperations {
    let tables: Tables

    /// Counts `ended` tasks of the session, which have their events up to `newest`, and those of its groups. Groups and
    /// the round of which none is left end with an event. Returns the newest event.
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
        guard let live = try tables.sessions.liveTasks(of: session), live.count == 0 else { return (newest, false) }
        newest = try tables.events.insertFinished(session, round: live.round, now: now)
        try tables.sessions.closeRound(of: session, newest: newest)
        return (newest, true)
    }

    /// The `group finished` that the ends bring about when none of the group's tasks is left.
    @inline(never)
    private func settle(_ ends: GroupEnds, of session: SessionID, now: Int64) throws(Failure) -> EventID? {
        guard try tables.groups.count(ends) == 0 else { return nil }
        guard let finished = try tables.groups.finish(ends.group) else { return nil }
        let round = try tables.sessions.liveTasks(of: session)?.round ?? 0
        return try tables.events.insertFinished(finished, in: session, round: round, now: now)
    }
}
