/// How many events of one handle a client takes without a request for each.
public struct EventCredit: Equatable, Sendable {
    /// The client buffers no event up to this one: it has handed them out, or does not want them.
    public var after: EventID
    /// The most events and bytes that it takes after that one.
    public var events: UInt32
    public var bytes: UInt32

    public init(after: EventID, events: UInt32 = Self.eventLimit, bytes: UInt32 = Self.byteLimit) {
        self.after = after
        self.events = events
        self.bytes = bytes
    }

    /// The most that one handle may buffer. Any event is smaller than half of it.
    public static let eventLimit: UInt32 = 1_024
    public static let byteLimit: UInt32 = 256 << 10
}

/// The engine's side of a credit: which events of a session to push to its consumer. The others stay in the store.
public struct PushWindow: Equatable, Sendable {
    /// All events up to this one were pushed, or the client has them otherwise.
    public private(set) var cursor: EventID
    /// The newest committed event of the session.
    public private(set) var newest: EventID
    private var credit: EventCredit?
    /// The pushed events after the credit's beginning.
    private var outstanding: [Pushed] = []
    private var outstandingBytes = 0
    /// Whether the next event did not fit.
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

    /// Whether an event that is committed now could be pushed at once.
    public var canPush: Bool {
        guard let credit else { return false }
        return !isFull && outstanding.count < credit.events
    }

    /// The most events to read.
    public var room: Int { max(0, Int(credit?.events ?? 0) - outstanding.count) }

    public mutating func advance(newest id: EventID) { newest = max(newest, id) }

    /// The latest credit replaces the one before. It is no increment, so a client may repeat it.
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
        /// `events` has all unacknowledged events after this one and up to `through`.
        public var after: EventID
        public var through: EventID
        public var events: [Event]
    }

    /// Which of these events to push. They are all unacknowledged events of the session after `after` and up to
    /// `through`. Nil when no event fits, or when earlier ones must be read from the store first.
    public mutating func push(_ events: [Event], after: EventID, through: EventID) -> Push? {
        advance(newest: through)
        guard let credit, after <= cursor, through > cursor, !isFull else { return nil }
        var push = Push(after: cursor, through: through, events: [])
        for event in events where event.id > cursor {
            // Another client may respond to a challenge, and so acknowledge its event, while this client buffers it. So
            // a challenge must be polled.
            if case .challenge = event.kind {
                isFull = true
                break
            }
            let bytes = event.size
            // An event that is alone is pushed even if it is larger than the window.
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
