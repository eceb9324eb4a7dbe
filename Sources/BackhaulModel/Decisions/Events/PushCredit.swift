/// How many events the engine may push to one handle, which is a client's reference to a session. To push an event is
/// to send it before the client demands it.
public struct EventCredit: Equatable, Sendable {
    /// The client buffers only events after this event. The client's polls have returned the earlier events, or the
    /// client does not want them.
    public var after: EventID
    /// The maximum number of events that the client takes after the event in `after`. The next property is the maximum
    /// number of bytes of these events.
    public var events: UInt32
    public var bytes: UInt32

    public init(after: EventID, events: UInt32 = Self.eventLimit, bytes: UInt32 = Self.byteLimit) {
        self.after = after
        self.events = events
        self.bytes = bytes
    }

    /// The maximum that one handle may buffer. Each event is smaller than half of `byteLimit`.
    public static let eventLimit: UInt32 = 1_024
    public static let byteLimit: UInt32 = 256 << 10
}

/// The engine's side of an `EventCredit`: decides which events of a session to push to its consumer, the client that
/// reads the session's events. The other events stay in the store.
public struct PushCredit: Equatable, Sendable {
    /// All events up to this one were pushed, or the client got them by a poll.
    public private(set) var cursor: EventID
    /// The newest committed event of the session.
    public private(set) var newest: EventID
    private var credit: EventCredit?
    /// The pushed events after `credit.after`.
    private var outstanding: [Pushed] = []
    private var outstandingBytes = 0
    /// Whether the next event exceeds the credit, or must not be pushed.
    private var isFull = false

    private struct Pushed: Equatable, Sendable {
        var id: EventID
        var bytes: Int
    }

    public init(newest: EventID) {
        cursor = .zero
        self.newest = newest
    }

    /// Whether the store has events that may be pushed.
    public var wantsMore: Bool { canPush && cursor < newest }

    /// Whether the credit allows one more event.
    public var canPush: Bool {
        guard let credit else { return false }
        return !isFull && outstanding.count < credit.events
    }

    /// The maximum number of events to read from the store for a push.
    public var room: Int { max(0, Int(credit?.events ?? 0) - outstanding.count) }

    public mutating func advance(newest id: EventID) { newest = max(newest, id) }

    /// Replaces the credit. A credit replaces the earlier credit and is not added to it, so a client may send the same
    /// credit again.
    public mutating func grant(_ credit: EventCredit) {
        var credit = credit
        credit.events = min(credit.events, EventCredit.eventLimit)
        credit.bytes = min(credit.bytes, EventCredit.byteLimit)
        self.credit = credit
        cursor = max(cursor, credit.after)
        outstanding.removeAll { $0.id <= credit.after }
        outstandingBytes = outstanding.reduce(0) { $0 + $1.bytes }
        isFull = false
    }

    public struct Push: Equatable, Sendable {
        /// `events` has all unacknowledged events that follow the event `after`, up to the event `through`.
        public var after: EventID
        public var through: EventID
        public var events: [Event]
    }

    /// Returns the events to push; nil if no event fits, or if earlier events must be read from the store first.
    /// `events`: all unacknowledged events of the session that follow the event `after`, up to the event `through`.
    public mutating func push(_ events: [Event], after: EventID, through: EventID) -> Push? {
        advance(newest: through)
        guard let credit, after <= cursor, through > cursor, !isFull else { return nil }
        var push = Push(after: cursor, through: through, events: [])
        for event in events where event.id > cursor {
            // The event of a challenge is not pushed: a poll must read it. Otherwise another client could respond to
            // the challenge, and so acknowledge the event, while this client still buffers the event.
            if case .challenge = event.kind {
                isFull = true
                break
            }
            let bytes = event.size
            // If `outstanding` is empty, the next event may have more bytes than the credit.
            let fits = outstanding.isEmpty || outstandingBytes + bytes <= credit.bytes
            guard outstanding.count < credit.events, fits else {
                isFull = true
                break
            }
            outstanding.append(Pushed(id: event.id, bytes: bytes))
            outstandingBytes += bytes
            cursor = event.id
            push.events.append(event)
        }
        if !isFull { cursor = through }
        push.through = cursor
        return push.through > push.after ? push : nil
    }
}
