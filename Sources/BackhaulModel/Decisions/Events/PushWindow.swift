/// How much a client takes of the events of one handle without having asked for each.
public struct EventCredit: Equatable, Sendable {
    /// The client holds nothing up to here: it has handed it out, or does not want it.
    public var after: EventID
    /// What it takes beyond that.
    public var events: UInt32
    public var bytes: UInt32

    public init(after: EventID, events: UInt32 = Self.eventLimit, bytes: UInt32 = Self.byteLimit) {
        self.after = after
        self.events = events
        self.bytes = bytes
    }

    /// What one handle may hold. Any event is smaller than half of it.
    public static let eventLimit: UInt32 = 1_024
    public static let byteLimit: UInt32 = 256 << 10
}

/// The engine's side of a credit: which events of a session to push to its consumer. What does not fit stays in the
/// store.
public struct PushWindow: Equatable, Sendable {
    /// Everything up to here was pushed, or the client has it otherwise.
    public private(set) var cursor: EventID
    /// Of the session, as far as it was committed.
    public private(set) var newest: EventID
    private var credit: EventCredit?
    /// Pushed beyond the credit's beginning.
    private var outstanding: [Pushed] = []
    private var outstandingBytes = 0
    /// The next event did not fit.
    private var isFull = false

    private struct Pushed: Equatable, Sendable {
        var id: EventID
        var bytes: Int
    }

    public init(newest: EventID) {
        cursor = .zero
        self.newest = newest
    }

    /// The store holds events that may be pushed.
    public var wantsMore: Bool { takes && cursor < newest }

    /// Something that is committed now could be pushed at once.
    public var takes: Bool {
        guard let credit else { return false }
        return !isFull && outstanding.count < credit.events
    }

    /// How many events to read at most.
    public var room: Int { max(0, Int(credit?.events ?? 0) - outstanding.count) }

    public mutating func learn(newest id: EventID) { newest = max(newest, id) }

    /// The latest credit counts. It is no increment, so that it may be given again.
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
        /// All unacknowledged events after this one and up to `through`.
        public var after: EventID
        public var through: EventID
        public var events: [Event]
    }

    /// What of these to push. They are all unacknowledged events of the session after `after` and up to `through`. Nil
    /// when nothing fits, or when others come first, which have to be read from the store.
    public mutating func push(_ events: [Event], after: EventID, through: EventID) -> Push? {
        learn(newest: through)
        guard let credit, after <= cursor, through > cursor, !isFull else { return nil }
        var push = Push(after: cursor, through: through, events: [])
        for event in events where event.id > cursor {
            // Somebody may answer it, and so acknowledge it, while it lies with the client: it has to be polled.
            if case .challenge = event.kind {
                isFull = true
                break
            }
            let bytes = event.size
            // Alone, even one that is larger than the window passes.
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
