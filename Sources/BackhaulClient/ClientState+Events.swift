internal import BackhaulModel
internal import BackhaulPlatform

/// The events for the host, which is the program that embeds the library. A poll returns pushed events if there are
/// any. Otherwise the poll is sent to the engine, which runs the tasks. The engine pushes events up to a *credit*: a
/// number of events and bytes. When polls have returned enough events, the engine gets a new credit.
extension ClientState {
    /// Returns pushed events for a poll; nil if the poll must be sent to the engine.
    mutating func takePushed(
        _ handle: HandleID, after: EventID, maximum: UInt32
    ) -> (events: [Event], more: Bool)? {
        guard let session = sessions[handle], session.role == .consume, session.isAttached else { return nil }
        let found = sessions[handle]?.pushed.take(after: after, maximum: Int(maximum), newest: session.newest)
        guard let found else { return nil }
        if let last = found.events.last?.id { returned(handle, through: last) }
        grantCredit(handle)
        return found
    }

    /// Notes that a poll is sent. Returns the newest known event.
    mutating func pollBegan(_ handle: HandleID) -> EventID {
        sessions[handle]?.pollBegan()
        updateDescriptors()
        return sessions[handle]?.newest ?? .zero
    }

    /// Takes the engine's reply to a poll. `newest`: the newest known event when the poll was sent.
    mutating func polled(_ handle: HandleID, after: EventID, _ events: [Event], more: Bool, newest: EventID) {
        // If `more` is false, the host has got all events that were committed when the poll was sent.
        let last = events.last?.id ?? .zero
        returned(handle, through: more ? last : max(last, newest))
        if let known = sessions[handle]?.newest {
            sessions[handle]?.pushed.polled(after: after, events, more: more, newest: known)
        }
        grantCredit(handle)
    }

    /// Notes that the outcome of a poll is set. If the engine's reply has events, `polled` was called before.
    mutating func pollEnded(_ handle: HandleID) {
        sessions[handle]?.pollEnded()
        updateDescriptors()
    }

    mutating func pushed(_ handle: HandleID, _ events: [Event], after: EventID, through: EventID) {
        guard let session = sessions[handle] else { return }
        sessions[handle]?.pushed.pushed(events, after: after, through: through)
        record(session.identifier, newest: through)
        grantCredit(handle)
    }

    mutating func endWithdrawn(_ handle: HandleID) {
        sessions[handle]?.pushed.endWithdrawn()
        grantCredit(handle)
    }

    /// Notes that the session was attached to an engine, for the first time or again.
    mutating func attached(_ handle: HandleID, newest: EventID, unacknowledged: UInt64) {
        sessions[handle]?.isAttached = true
        sessions[handle]?.record(newest: newest)
        // If the host has acknowledged all events, no event waits for the host, even if the newest id is greater than
        // the last polled id.
        sessions[handle]?.begin(at: unacknowledged == 0 ? newest : .zero)
        grantCredit(handle)
        updateDescriptors()
    }

    /// Notes that polls of this handle have returned the events up to this id.
    private mutating func returned(_ handle: HandleID, through id: EventID) {
        guard let session = sessions[handle] else { return }
        sessions[handle]?.noteReturned(through: id)
        if session.role == .consume { attention.report(session.identifier, through: id) }
        updateDescriptors()
    }

    /// Notes that the host has not read the events from this id on, although a poll has returned them. So the event
    /// descriptors of the session and the application become readable again.
    mutating func unreturn(_ handle: HandleID, from id: EventID) {
        guard let session = sessions[handle], session.role == .consume, session.isAttached, id > .zero else { return }
        let before = EventID(rawValue: id.rawValue - 1)
        sessions[handle]?.unreturn(after: before)
        attention.unreport(session.identifier, after: before)
        updateDescriptors()
    }

    // MARK: Acknowledgements

    mutating func acknowledging(_ handle: HandleID, _ acknowledgement: Acknowledgement) {
        sessions[handle]?.pushed.acknowledging(acknowledgement)
        grantCredit(handle)
    }

    mutating func acknowledged(_ handle: HandleID, _ acknowledgement: Acknowledgement, _ reply: Reply) {
        if case .failed = reply {
            sessions[handle]?.pushed.failedToAcknowledge(acknowledgement)
        } else {
            sessions[handle]?.pushed.acknowledged(acknowledgement)
        }
        grantCredit(handle)
    }
}
