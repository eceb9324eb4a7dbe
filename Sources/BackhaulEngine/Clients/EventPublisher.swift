internal import BackhaulModel
internal import BackhaulStore

/// Sends events to clients, after the database has committed the events. The session's consumer, which is the one
/// client that reads the session's events, gets the contents of the events. The consumer grants a *credit*: the number
/// of events and bytes that the engine may send. The engine sends no more events than the credit permits, until the
/// consumer grants a new credit. Every other client of the application gets the id of the newest event. A consumer that
/// has not got all new events gets this id, too.
///
/// Each engine has one object of this type. Events of one iteration of the loop are announced together.
final class EventPublisher {
    private let runtime: any Runtime
    private let clients: ClientRegistry
    /// The new events of this iteration of the loop.
    private var announcements: [SessionID: Announcement] = [:]

    private struct Announcement {
        let session: SessionID
        let name: NamedSession
        var newest: EventID
        /// One part for each commit, in the order of the commits. The session has no event between the event `after`
        /// and the first event of the part.
        var parts: [(after: EventID, events: [Event])] = []
    }

    init(_ runtime: any Runtime, _ clients: ClientRegistry) {
        self.runtime = runtime
        self.clients = clients
    }

    /// Whether events of the session can be pushed now. If so, a transaction that adds events must return the contents
    /// of these events.
    func pushes(_ session: SessionID) -> Bool {
        guard let (connection, handle) = clients.consumer(of: session) else { return false }
        return !connection.isBackpressured() && connection.handles[handle]?.pushCredit.canPush == true
    }

    /// At the end of this iteration of the loop, notifies the application's connected clients that there are new
    /// events.
    func announce(_ change: Change) {
        guard change.newestEvent > .zero else { return }
        if announcements.isEmpty { runtime.afterThisIteration { [unowned self] in flushAnnouncements() } }
        // The key is the id: a session that is removed and created again in one iteration has the same name but another
        // id.
        var announcement =
            announcements[change.session]
            ?? Announcement(session: change.session, name: NamedSession(change), newest: change.newestEvent)
        announcement.newest = max(announcement.newest, change.newestEvent)
        if !change.events.isEmpty { announcement.parts.append((change.previousEvent, change.events)) }
        announcements[change.session] = announcement
    }

    /// Sends all announcements now. This function is called before a reply is sent, so that the client first receives
    /// the events that its command caused.
    func flushAnnouncements() -> [EngineEffect] {
        let all = announcements
        announcements = [:]
        var effects: [EngineEffect] = []
        for announcement in all.values.sorted(by: { $0.session < $1.session }) {
            let (name, informed) = (announcement.name, push(announcement))
            let notice = Notice.event(identifier: name.identifier, newest: announcement.newest)
            for connection in clients.all where connection.application == name.application {
                if connection.mayBeStoppedConsumer { effects.append(.eventFor(connection.id)) }
                if connection.id != informed { connection.deliver(.notice(notice)) }
            }
        }
        return effects
    }

    /// Notifies the session's consumer that the event about the end of the last round was withdrawn. The consumer may
    /// have got this event before, and no poll may have returned it yet.
    func endWithdrawn(in session: SessionID) -> [EngineEffect] {
        let effects = flushAnnouncements()
        if let (connection, handle) = clients.consumer(of: session) {
            connection.deliver(.notice(.endWithdrawn(handle)))
        }
        return effects
    }

    /// Pushes as many events as the consumer's credit permits. Returns the consumer's connection if all events were
    /// pushed.
    private func push(_ announcement: Announcement) -> ConnectionID? {
        guard let (connection, handle) = clients.consumer(of: announcement.session),
            var pushCredit = connection.handles[handle]?.pushCredit
        else { return nil }
        let start = pushCredit.cursor
        var pushed: [Event] = []
        if !connection.isBackpressured() {
            for part in announcement.parts {
                guard let last = part.events.last?.id else { continue }
                pushed += pushCredit.push(part.events, after: part.after, through: last)?.events ?? []
            }
        }
        pushCredit.advance(newest: announcement.newest)
        connection.update(handle, pushCredit)
        if pushCredit.cursor > start {
            connection.deliver(.notice(.events(handle, after: start, through: pushCredit.cursor, pushed)))
        }
        readAhead(connection, handle)
        return pushCredit.cursor >= announcement.newest ? connection.id : nil
    }

    // MARK: Credit

    func granted(_ connection: ClientConnection, _ handle: HandleID, _ credit: EventCredit) {
        guard let attached = connection.handles[handle], attached.role == .consume else { return }
        var pushCredit = attached.pushCredit
        pushCredit.grant(credit)
        connection.update(handle, pushCredit)
        readAhead(connection, handle)
    }

    /// Pushes more events to a client whose queue of unread messages has become short enough.
    func drainedOutput(_ id: ConnectionID) {
        guard let connection = clients[id] else { return }
        for (handle, attached) in connection.handles where attached.role == .consume { readAhead(connection, handle) }
    }

    /// Reads events from the store and pushes them, as far as the consumer's credit permits.
    private func readAhead(_ connection: ClientConnection, _ handle: HandleID) {
        guard let attached = connection.handles[handle], attached.pushCredit.wantsMore, !attached.isReadingAhead,
            !connection.isBackpressured()
        else { return }
        connection.setReadingAhead(handle, true)
        let (id, session, pushCredit) = (connection.id, attached.session, attached.pushCredit)
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.events.poll(session, after: pushCredit.cursor, maximum: pushCredit.room)
            },
            then: { [unowned self] result in
                hasRead(result, of: pushCredit, id, handle)
                return []
            })
    }

    private func hasRead(
        _ result: Result<(events: [Event], more: Bool), Failure>, of pushCredit: PushCredit, _ id: ConnectionID,
        _ handle: HandleID
    ) {
        guard let connection = clients[id], var current = connection.handles[handle]?.pushCredit else { return }
        connection.setReadingAhead(handle, false)
        // If the store could not be read, the client's next poll reads the events.
        guard case .success(let (events, more)) = result else { return }
        let start = current.cursor
        let through = more ? events.last?.id ?? .zero : max(pushCredit.newest, events.last?.id ?? .zero)
        let push = current.push(events, after: pushCredit.cursor, through: through)
        connection.update(handle, current)
        guard let push else { return }
        connection.deliver(.notice(.events(handle, after: start, through: current.cursor, push.events)))
        readAhead(connection, handle)
    }
}
