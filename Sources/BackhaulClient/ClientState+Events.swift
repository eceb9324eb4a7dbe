internal import BackhaulModel
internal import BackhaulPlatform

/// Events for the host. Polls return pushed events, and events that were handed out renew the engine's credit.
extension ClientState {
    /// Returns pushed events for a poll; nil: the poll has to be sent to the engine.
    mutating func takePushed(
        _ handle: HandleID, after: EventID, maximum: UInt32
    ) -> (events: [Event], more: Bool)? {
        guard let session = sessions[handle], session.role == .consume, session.isAttached else { return nil }
        let found = sessions[handle]?.pushed.take(after: after, maximum: Int(maximum), newest: session.newest)
        guard let found else { return nil }
        if let last = found.events.last?.id { handedOut(handle, through: last) }
        renewCredit(handle)
        return found
    }

    /// Takes the reply to a poll from the store. `newest`: the newest known event when the poll was sent.
    mutating func polled(_ handle: HandleID, after: EventID, _ events: [Event], more: Bool, newest: EventID) {
        // Without more events, all that were committed when the poll was sent have been handed out.
        let last = events.last?.id ?? .zero
        handedOut(handle, through: more ? last : max(last, newest))
        if let known = sessions[handle]?.newest {
            sessions[handle]?.pushed.polled(after: after, events, more: more, newest: known)
        }
        renewCredit(handle)
    }

    mutating func pushed(_ handle: HandleID, _ events: [Event], after: EventID, through: EventID) {
        guard let session = sessions[handle] else { return }
        sessions[handle]?.pushed.pushed(events, after: after, through: through)
        learn(session.identifier, newest: through)
        renewCredit(handle)
    }

    /// The session was attached, to this or the next engine.
    mutating func attached(_ handle: HandleID, newest: EventID, unacknowledged: UInt64) {
        sessions[handle]?.isAttached = true
        sessions[handle]?.learn(newest: newest)
        // If all events are acknowledged, none waits, also when the newest id is greater.
        sessions[handle]?.begin(at: unacknowledged == 0 ? newest : .zero)
        renewCredit(handle)
        updateDescriptors()
    }

    /// Notes that this handle has handed out the events up to this id.
    private mutating func handedOut(_ handle: HandleID, through id: EventID) {
        guard let session = sessions[handle] else { return }
        sessions[handle]?.handOut(through: id)
        if session.role == .consume { attention.tell(session.identifier, through: id) }
        updateDescriptors()
    }

    /// The host did not take the events from this one on that were handed out. The descriptors show them again.
    mutating func takeBack(_ handle: HandleID, from id: EventID) {
        guard let session = sessions[handle], session.role == .consume, session.isAttached, id > .zero else { return }
        let before = EventID(rawValue: id.rawValue - 1)
        sessions[handle]?.takeBack(after: before)
        attention.takeBack(session.identifier, after: before)
        updateDescriptors()
    }

    // MARK: Acknowledgements

    mutating func acknowledging(_ handle: HandleID, _ acknowledgement: Acknowledgement) {
        sessions[handle]?.pushed.acknowledging(acknowledgement)
        renewCredit(handle)
    }

    mutating func acknowledged(_ handle: HandleID, _ acknowledgement: Acknowledgement, _ reply: Reply) {
        if case .failed = reply {
            sessions[handle]?.pushed.failedToAcknowledge(acknowledgement)
        } else {
            sessions[handle]?.pushed.acknowledged(acknowledgement)
        }
        renewCredit(handle)
    }
}
