internal import BackhaulModel
internal import BackhaulPlatform

/// Events on their way to the host: pushed ones answer polls, and what was handed out renews the engine's credit.
extension ClientState {
    /// Nil when the engine is to be asked.
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

    /// The store has answered a poll. `newest`: what was known when it was asked.
    mutating func polled(_ handle: HandleID, after: EventID, _ events: [Event], more: Bool, newest: EventID) {
        // With nothing more, all that was committed when the poll was sent has been handed out.
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

    /// The session was attached, by this or another engine.
    mutating func attached(_ handle: HandleID, newest: EventID, unacknowledged: UInt64) {
        sessions[handle]?.isAttached = true
        sessions[handle]?.learn(newest: newest)
        // All acknowledged: nothing waits, whatever the newest id is.
        sessions[handle]?.begin(at: unacknowledged == 0 ? newest : .zero)
        renewCredit(handle)
        updateDescriptors()
    }

    /// Events up to this id were handed out by this handle.
    private mutating func handedOut(_ handle: HandleID, through id: EventID) {
        guard let session = sessions[handle] else { return }
        sessions[handle]?.handOut(through: id)
        if session.role == .consume { attention.tell(session.identifier, through: id) }
        updateDescriptors()
    }

    /// Events from this one on were handed out to a host that did not take them: the descriptors tell of them again.
    mutating func takeBack(_ handle: HandleID, from id: EventID) {
        guard let session = sessions[handle], session.role == .consume, session.isAttached, id > .zero else { return }
        let before = EventID(rawValue: id.rawValue - 1)
        sessions[handle]?.takeBack(after: before)
        attention.takeBack(session.identifier, after: before)
        updateDescriptors()
    }

    // MARK: Acknowledging

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
