/// The events that the engine has *pushed* (sent before a poll) to one handle, which is a client's reference to a
/// session. No poll of the client has returned these events yet. A *credit*, which the client gives, limits how many
/// events the engine pushes. A poll returns the events after its *cursor*, the id of an event. If the buffered events
/// begin directly after the cursor, the poll is served without the engine. In all uncertain cases, the poll reads the
/// store.
public struct EventCache: Equatable, Sendable {
    /// The buffer has every event after `since` and up to `through` that the client has not acknowledged (confirmed as
    /// processed).
    public private(set) var since: EventID
    public private(set) var through: EventID
    private var events: [Event] = []
    private var bytes = 0
    /// The last credit that was given. The next two properties count the events and bytes that were removed from the
    /// buffer since this credit.
    private var granted: EventCredit?
    private var droppedEvents = 0
    private var droppedBytes = 0
    /// Events whose acknowledgement was sent. Perhaps the acknowledgement is not applied yet, or the events have not
    /// been pushed yet. Polls must not return these events again.
    private var acknowledged: Set<EventID> = []
    private var acknowledgedThrough = EventID.zero
    private var appliedThrough = EventID.zero

    public init(at id: EventID = .zero) {
        since = id
        through = id
    }

    public var count: Int { events.count }

    /// Empties the buffer, because another engine begins to push events. `id`: the event after which it begins.
    public mutating func restart(at id: EventID) {
        since = id
        through = id
        events = []
        bytes = 0
        granted = nil
    }

    /// Buffers what the engine has pushed: all unacknowledged events after `after` and up to `end`. Events beyond the
    /// limits are not buffered, even if the credit allows more.
    public mutating func pushed(_ pushed: [Event], after: EventID, through end: EventID) {
        guard after <= through else { return }
        for event in pushed where event.id > through {
            let size = event.size
            let fits = events.isEmpty || bytes + size <= 2 * Int(EventCredit.byteLimit)
            guard fits, events.count < EventCredit.eventLimit else { return }
            through = event.id
            guard event.id > acknowledgedThrough, acknowledged.remove(event.id) == nil else {
                drop(1, size)
                continue
            }
            events.append(event)
            bytes += size
        }
        through = max(through, end)
    }

    /// Returns the events for a poll, and whether there are more. Returns nil if the poll must read the store.
    /// `newest`: the newest event that the client knows.
    public mutating func take(after: EventID, maximum: Int, newest: EventID) -> (events: [Event], more: Bool)? {
        guard after >= since, after <= through else { return nil }
        let first = events.firstIndex { $0.id > after } ?? events.count
        let taken = events[first...].prefix(maximum)
        // A poll of the store would return a full batch or all events, so the buffer must do the same.
        guard let last = taken.last, taken.count == maximum || through >= newest else { return nil }
        let batch = Array(taken)
        drop(through: last.id)
        since = max(since, last.id)
        return (batch, !events.isEmpty || through < newest)
    }

    /// Notes what the store has returned for a poll. `newest`: the newest event that the client knows.
    public mutating func polled(after: EventID, _ polled: [Event], more: Bool, newest: EventID) {
        if let last = polled.last?.id {
            drop(through: last)
            if last > through {
                // The old credit counts as used up, because with it the engine would still push the events of this
                // poll. `nextCredit` then returns a new credit, which begins after these events.
                droppedEvents = Int(EventCredit.eventLimit)
                through = last
            }
            since = max(since, last)
        } else if !more {
            // When the store was read, it had no event after the cursor. The cursor may even be greater than the id of
            // the newest event. Then events that are made later can have ids below the cursor, and the engine pushes
            // them. So the buffer continues after the newest event, and not after such a cursor.
            let end = min(after, newest)
            if end > through {
                drop(through: end)
                through = end
                since = end
            }
            since = min(since, after)
        }
    }

    /// Removes the event about the end of the last round, because a new round has begun.
    public mutating func endWithdrawn() { removeAll { $0.kind == .sessionFinished } }

    // MARK: Acknowledgements

    /// Notes that an acknowledgement was sent. Polls do not return its events any more.
    public mutating func acknowledging(_ acknowledgement: Acknowledgement) {
        switch acknowledgement {
        case .through(let id):
            acknowledgedThrough = max(acknowledgedThrough, id)
            drop(through: id)
        case .ids(let ids):
            acknowledged.formUnion(ids)
            removeAll(Set(ids))
        }
    }

    public mutating func acknowledged(_ acknowledgement: Acknowledgement) {
        switch acknowledgement {
        case .through(let id):
            appliedThrough = max(appliedThrough, id)
            // When an earlier acknowledgement was refused, `acknowledgedThrough` may have become smaller than `id`.
            acknowledgedThrough = max(acknowledgedThrough, id)
            drop(through: id)
            // All events up to `id` are acknowledged, so the buffer can also serve a poll from the beginning.
            if id >= since { since = .zero }
        case .ids(let ids):
            removeAll(Set(ids))
            acknowledged.subtract(ids)
            let end = through
            acknowledged.formUnion(ids.filter { $0 > end })
        }
    }

    /// Notes that an acknowledgement was refused. Polls must return its events again.
    public mutating func failedToAcknowledge(_ acknowledgement: Acknowledgement) {
        if case .ids(let ids) = acknowledgement { acknowledged.subtract(ids) }
        acknowledgedThrough = appliedThrough
        drop(through: through)
        since = through
    }

    // MARK: Credit

    /// Returns the credit that the client must give now; nil if too little has changed since the last credit.
    public mutating func nextCredit(newest: EventID) -> EventCredit? {
        let after = events.first.map { EventID(rawValue: $0.id.rawValue - 1) } ?? through
        if let granted {
            let isUsed =
                droppedEvents >= EventCredit.eventLimit / 2 || droppedBytes >= EventCredit.byteLimit / 2
                || (events.isEmpty && through < newest)
            guard isUsed, after > granted.after else { return nil }
        }
        let credit = EventCredit(after: after)
        granted = credit
        droppedEvents = 0
        droppedBytes = 0
        return credit
    }

    private mutating func drop(through id: EventID) {
        let count = events.firstIndex { $0.id > id } ?? events.count
        let size = events[..<count].reduce(0) { $0 + $1.size }
        events.removeFirst(count)
        bytes -= size
        drop(count, size)
    }

    private mutating func removeAll(_ ids: Set<EventID>) { removeAll { ids.contains($0.id) } }

    private mutating func removeAll(where isRemoved: (Event) -> Bool) {
        let (count, size) = (events.count, bytes)
        events.removeAll(where: isRemoved)
        bytes = events.reduce(0) { $0 + $1.size }
        drop(count - events.count, size - bytes)
    }

    private mutating func drop(_ count: Int, _ size: Int) {
        droppedEvents += count
        droppedBytes += size
    }
}
