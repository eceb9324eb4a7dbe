public import BackhaulModel

/// What a transaction changed in a session. The engine acts on it.
public struct Change: Equatable, Sendable {
    public var session: SessionID
    public var application: String
    public var identifier: String
    /// The newest event after the change.
    public var newestEvent: EventID
    /// The newest event before the change.
    public var previousEvent = EventID.zero
    /// The first events after `previousEvent`, if the caller requested the events of the change.
    public var events: [Event] = []
    /// Whether the session needs its host: its round is over, a challenge was opened, or an activity made an event.
    public var needsHost = false
    /// The tasks that changed, by id.
    public var tasks: [TaskID] = []
    /// The lanes of the changed tasks.
    public var lanes: Set<LaneID> = []
    /// Acknowledged tasks whose kept file was not claimed. Their files are to be removed.
    public var removedKept: [TaskID] = []
    /// The number of ready tasks of the selection in the held lanes that the caller has given. They have not changed.
    public var held: UInt64 = 0
    /// The tasks whose constraints changed.
    public var restated = RestatedTasks()
    /// Whether files of request bodies are to be removed.
    public var leavesBodies = false
    /// Whether files of request bodies are to be given back.
    public var returnsBodies = false
    /// Challenges that were closed because no task waits for them.
    public var closedChallenges: [ChallengeID] = []
    /// When the next delayed task is due, in milliseconds of the boot clock; nil if the change has delayed none.
    public var nextDue: Int64?
    /// Whether the session was removed, after it was invalidated and its last task or event was gone.
    public var sessionRemoved = false
    /// The number of tasks changed or events removed.
    public var count: UInt64 = 0

    public init(session: SessionID, application: String, identifier: String, newestEvent: EventID) {
        self.session = session
        self.application = application
        self.identifier = identifier
        self.newestEvent = newestEvent
    }
}
