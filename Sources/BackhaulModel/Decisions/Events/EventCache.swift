/// The client's side of a credit: events that were pushed to a handle and are not handed out yet. If they continue a
/// poll's cursor, the poll needs no engine. In all uncertain cases, the poll goes to the store.
public struct EventCache: Equatable, Sendable {
    /// `events` has every unacknowledged event after `since`, up to `through`.
    public private(set) var since: EventID
    public private(set) var through: EventID
    private var events: [Event] = []
    private var bytes = 0
    /// The last credit that was given, and the events and bytes that were dropped since.
    private var granted: EventCredit?
    private var droppedEvents = 0
    private var droppedBytes = 0
    /// Events whose acknowledgement may not be applied yet, or was sent before they were pushed. They must not be
    /// handed out again.
    private var acknowledged: Set<EventID> = []
    private var acknowledgedThrough = EventID.zero
    private var appliedThrough = EventID.zero

    public init(at id: EventID = .zero) {
        since = id
        through = id
    }

    public var count: Int { events.count }

    /// Another engine begins to push events after this one.
    public mutating func restart(at id: EventID) {
        since = id
        through = id
        events = []
        bytes = 0
        granted = nil
    }

    /// Takes what the engine has pushed: all unacknowledged events after `after` and up to `end`. Events beyond the
    /// limits are not taken, whatever credit was given.
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

    /// The events for a poll, and whether there are more. Nil: the store must be asked. `newest`: the newest event that
    /// the client knows.
    public mutating func take(after: EventID, maximum: Int, newest: EventID) -> (events: [Event], more: Bool)? {
        guard after >= since, after <= through else { return nil }
        let first = events.firstIndex { $0.id > after } ?? events.count
        let taken = events[first...].prefix(maximum)
        // A batch must be as full as one from the store.
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
                // A new credit must be given, or the engine would push the events that were handed out just now.
                droppedEvents = Int(EventCredit.eventLimit)
                through = last
            }
            since = max(since, last)
        } else if !more {
            // No event follows the cursor, except those pushed since. A host may pass a cursor beyond all events. Then
            // the events up to it do not exist yet, and will be pushed.
            let end = min(after, newest)
            if end > through {
                drop(through: end)
                through = end
                since = end
            }
            since = min(since, after)
        }
    }

    // MARK: Acknowledgements

    /// An acknowledgement was sent: its events are not handed out any more.
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
            // A refused earlier acknowledgement may have reset it.
            acknowledgedThrough = max(acknowledgedThrough, id)
            drop(through: id)
            // No event is left before it that a poll from the beginning could miss here.
            if id >= since { since = .zero }
        case .ids(let ids):
            removeAll(Set(ids))
            acknowledged.subtract(ids)
            let end = through
            acknowledged.formUnion(ids.filter { $0 > end })
        }
    }

    /// The acknowledgement was refused: its events must still be handed out.
    public mutating func failedToAcknowledge(_ acknowledgement: Acknowledgement) {
        if case .ids(let ids) = acknowledgement { acknowledged.subtract(ids) }
        acknowledgedThrough = appliedThrough
        drop(through: through)
        since = through
    }

    // MARK: Credit

    /// The credit to give now; nil: it is not worth a message.
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

    private mutating func removeAll(_ ids: Set<EventID>) {
        let (count, size) = (events.count, bytes)
        events.removeAll { ids.contains($0.id) }
        bytes = events.reduce(0) { $0 + $1.size }
        drop(count - events.count, size - bytes)
    }

    private mutating func drop(_ count: Int, _ size: Int) {
        droppedEvents += count
        droppedBytes += size
    }
}
