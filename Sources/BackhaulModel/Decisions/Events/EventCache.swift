/// The client's side of a credit: events that were pushed to a handle and are not handed out yet. They answer a poll
/// without the engine when they continue its cursor. Whatever is not certain is asked of the store.
public struct EventCache: Equatable, Sendable {
    /// Every unacknowledged event after `since`, up to `through`, is in `events`.
    public private(set) var since: EventID
    public private(set) var through: EventID
    private var events: [Event] = []
    private var bytes = 0
    /// The last credit that was given, and what was dropped since.
    private var granted: EventCredit?
    private var droppedEvents = 0
    private var droppedBytes = 0
    /// Acknowledged by a command that may not be applied yet, or ahead of the pushes: they are not to come again.
    private var acknowledged: Set<EventID> = []
    private var acknowledgedThrough = EventID.zero
    private var appliedThrough = EventID.zero

    public init(at id: EventID = .zero) {
        since = id
        through = id
    }

    public var count: Int { events.count }

    /// Another engine begins to push from here on.
    public mutating func restart(at id: EventID) {
        since = id
        through = id
        events = []
        bytes = 0
        granted = nil
    }

    /// What the engine has pushed: all unacknowledged events after `after` and up to `end`. Nothing is taken beyond the
    /// bounds, whatever was granted.
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

    /// What answers a poll, and whether more is known of; nil when the store is to be asked. `newest`: of which the
    /// client knows.
    public mutating func take(after: EventID, maximum: Int, newest: EventID) -> (events: [Event], more: Bool)? {
        guard after >= since, after <= through else { return nil }
        let first = events.firstIndex { $0.id > after } ?? events.count
        let taken = events[first...].prefix(maximum)
        // A batch is as full as it would be from the store.
        guard let last = taken.last, taken.count == maximum || through >= newest else { return nil }
        let batch = Array(taken)
        drop(through: last.id)
        since = max(since, last.id)
        return (batch, !events.isEmpty || through < newest)
    }

    /// What the store has answered to a poll. `newest`: of which the client knows.
    public mutating func polled(after: EventID, _ polled: [Event], more: Bool, newest: EventID) {
        if let last = polled.last?.id {
            drop(through: last)
            if last > through {
                // The engine would push what was handed out just now.
                droppedEvents = Int(EventCredit.eventLimit)
                through = last
            }
            since = max(since, last)
        } else if !more {
            // Nothing follows the cursor but what was pushed since. A cursor may come from elsewhere and lie beyond all
            // events: those up to it are still to be made, and to be pushed.
            let end = min(after, newest)
            if end > through {
                drop(through: end)
                through = end
                since = end
            }
            since = min(since, after)
        }
    }

    // MARK: Acknowledging

    /// An acknowledgement is on its way: nothing of it is handed out any more.
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
            // An earlier one that was refused has taken it back.
            acknowledgedThrough = max(acknowledgedThrough, id)
            drop(through: id)
            // Nothing is left before it that a poll from the beginning would miss here.
            if id >= since { since = .zero }
        case .ids(let ids):
            removeAll(Set(ids))
            acknowledged.subtract(ids)
            let end = through
            acknowledged.formUnion(ids.filter { $0 > end })
        }
    }

    /// It was refused: what it named is still to be handed out.
    public mutating func failedToAcknowledge(_ acknowledgement: Acknowledgement) {
        if case .ids(let ids) = acknowledgement { acknowledged.subtract(ids) }
        acknowledgedThrough = appliedThrough
        drop(through: through)
        since = through
    }

    // MARK: Credit

    /// The credit to give now, if it is worth a message.
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
