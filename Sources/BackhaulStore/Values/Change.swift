public import BackhaulModel

/// What a transaction changed in a session, for whoever has to act on it.
public struct Change: Equatable, Sendable {
    public var session: SessionID
    public var application: String
    public var identifier: String
    /// After the change.
    public var newestEvent: EventID
    /// Before the change.
    public var previousEvent = EventID.zero
    /// The first of the events that the change made, where they were asked for; they follow `previousEvent`.
    public var events: [Event] = []
    /// No task of the session is left, as its last event tells, or a challenge was opened.
    public var needsHost = false
    /// The tasks that changed, by id.
    public var tasks: [TaskID] = []
    /// Their lanes.
    public var lanes: Set<LaneID> = []
    /// Acknowledged tasks whose kept file nobody claimed: the files are to be removed.
    public var removedKept: [TaskID] = []
    /// How many tasks of the selection wait for their turn in the lanes that were asked about. They have not changed.
    public var held: UInt64 = 0
    /// Of tasks that state something else now.
    public var restated = RestatedTasks()
    /// Files of request bodies are to be removed.
    public var leavesBodies = false
    /// Files of request bodies are to be given back.
    public var returnsBodies = false
    /// Open no more, because no task waits for them.
    public var closedChallenges: [ChallengeID] = []
    /// When the next delayed task is due, in milliseconds of the boot clock, where the change has delayed any.
    public var nextDue: Int64?
    /// The session had been invalidated, and this was the last that it had.
    public var sessionRemoved = false
    /// Tasks changed or events removed.
    public var count: UInt64 = 0

    public init(session: SessionID, application: String, identifier: String, newestEvent: EventID) {
        self.session = session
        self.application = application
        self.identifier = identifier
        self.newestEvent = newestEvent
    }
}
