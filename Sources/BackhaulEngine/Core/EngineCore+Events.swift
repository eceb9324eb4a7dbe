internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// A handle of any client.
struct HandleAddress: Hashable {
    var connection: ConnectionID
    var handle: HandleID
}

/// New events of a session, as one turn of the loop has them.
struct Announcement {
    let session: SessionID
    let name: NamedSession
    var newest: EventID
    /// Contents that came with the commits, in order: each follows the event `after` directly.
    var parts: [(after: EventID, events: [Event])] = []
}

/// Committed events go to the session's consumer with their contents, as far as its credit reaches, and to every other
/// host of the application as the newest id.
extension EngineCore {
    /// Whether the contents of an event that is committed now are wanted at once.
    func pushes(_ session: SessionID) -> Bool {
        guard let address = consumers[session], let connection = connections[address.connection] else { return false }
        return !connection.isBehind() && connection.handles[address.handle]?.window.takes == true
    }

    /// Tells the connected clients of the application at the end of this turn, once for all events of the turn.
    func announce(_ change: Change) {
        lookAtActivities(of: change.tasks)
        guard change.newestEvent > .zero else { return }
        if change.needsHost { launches.look(at: change.application) }
        if unannounced.isEmpty { loop.afterThisTurn { [unowned self] in announceAll() } }
        // Not by its name: one that is removed and made anew in one turn has the same.
        var announcement =
            unannounced[change.session]
            ?? Announcement(
                session: change.session,
                name: NamedSession(application: change.application, identifier: change.identifier),
                newest: change.newestEvent)
        announcement.newest = max(announcement.newest, change.newestEvent)
        if !change.events.isEmpty { announcement.parts.append((change.previousEvent, change.events)) }
        unannounced[change.session] = announcement
    }

    func announceAll() {
        let all = unannounced
        unannounced = [:]
        for announcement in all.values {
            let (name, told) = (announcement.name, push(announcement))
            let notice = Notice.event(identifier: name.identifier, newest: announcement.newest)
            for connection in connections.values where connection.application == name.application {
                noteStop(of: connection)
                if connection.id != told { connection.deliver(.notice(notice)) }
            }
        }
    }

    /// The connection that has learnt of all of it by what was pushed.
    private func push(_ announcement: Announcement) -> ConnectionID? {
        guard let address = consumers[announcement.session], let connection = connections[address.connection],
            var window = connection.handles[address.handle]?.window
        else { return nil }
        let start = window.cursor
        var pushed: [Event] = []
        if !connection.isBehind() {
            for part in announcement.parts {
                guard let last = part.events.last?.id else { continue }
                pushed += window.push(part.events, after: part.after, through: last)?.events ?? []
            }
        }
        window.learn(newest: announcement.newest)
        connection.update(address.handle, window)
        if window.cursor > start {
            connection.deliver(
                .notice(.events(address.handle, after: start, through: window.cursor, pushed)))
        }
        readAhead(connection, address.handle)
        return window.cursor >= announcement.newest ? connection.id : nil
    }

    // MARK: Credit

    func granted(_ connection: ClientConnection, _ handle: HandleID, _ credit: EventCredit) {
        guard let attached = connection.handles[handle], attached.role == .consume else { return }
        var window = attached.window
        window.grant(credit)
        connection.update(handle, window)
        readAhead(connection, handle)
    }

    /// Pushes what waits in the store.
    func readAhead(_ connection: ClientConnection, _ handle: HandleID) {
        guard let attached = connection.handles[handle], attached.window.wantsMore, !attached.isReadingAhead,
            !connection.isBehind()
        else { return }
        connection.setReadingAhead(handle, true)
        let (id, session, window) = (connection.id, attached.session, attached.window)
        store({ (transaction) throws(Failure) in
            try transaction.poll(session, after: window.cursor, maximum: window.room)
        }, then: { core, result in
            guard let connection = core.connections[id], var current = connection.handles[handle]?.window else {
                return
            }
            connection.setReadingAhead(handle, false)
            // A store that cannot read for now is asked by the next poll.
            guard case .success(let (events, more)) = result else { return }
            let start = current.cursor
            let through = more ? events.last?.id ?? .zero : max(window.newest, events.last?.id ?? .zero)
            let push = current.push(events, after: window.cursor, through: through)
            connection.update(handle, current)
            guard let push else { return }
            connection.deliver(.notice(.events(handle, after: start, through: current.cursor, push.events)))
            core.readAhead(connection, handle)
        })
    }

    /// A peer that was behind has read what was sent to it.
    func caughtUp(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        for (handle, attached) in connection.handles where attached.role == .consume { readAhead(connection, handle) }
    }
}
