public import BackhaulModel

/// What a transaction changed in a session. The engine updates its own state from this value.
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
    /// Whether the session needs its host. A session needs its host when all tasks have ended, when a challenge was
    /// opened, or when an activity inserted an event.
    public var needsHost = false
    /// Whether the unacknowledged event about the end of the last round was removed, because a new round has begun.
    public var withdrawsEnd = false
    /// The ids of the tasks that changed, in ascending order.
    public var tasks: [TaskID] = []
    /// The lanes of the changed tasks.
    public var lanes: Set<LaneID> = []
    /// The lanes of the tasks that waited for the end of another task, and may start now.
    public var released: Set<LaneID> = []
    /// The highest priority of the resumed tasks and of the tasks in `released`.
    public var priority = Int32.min
    /// The states of the tasks that ended because another task did, for which they waited.
    public var endedDependents: [TaskState] = []
    /// Tasks whose event was acknowledged, and whose downloaded file is still in the store, because the host has not
    /// claimed the file. The engine must delete these files.
    public var removedKept: [TaskID] = []
    /// Whether the transaction has listed copies of interrupted claims that the engine must delete.
    public var hasLeftoverCopies = false
    /// How many of the ready tasks that the command selects are held, because a condition such as the network does not
    /// permit them. Before the transaction, the engine has decided which lanes and constraints are held.
    public var held: UInt64 = 0
    /// The tasks whose constraints changed.
    public var restated = RestatedTasks()
    /// Whether the transaction has listed files of request bodies that the engine must delete.
    public var hasLeftoverBodies = false
    /// Whether the transaction has listed uploads whose servers must be asked to remove what they have of them.
    public var abandonsUploads = false
    /// Whether the transaction has listed consumed files (files to upload that were moved into the store) that the
    /// engine must move back to their old paths.
    public var returnsBodies = false
    /// Challenges that were closed because no task waits for them any more.
    public var closedChallenges: [ChallengeID] = []
    /// When the next delayed task is due, in milliseconds of the boot clock; nil if the change has delayed no task.
    public var nextDue: Int64?
    /// Whether the session was removed, because it was invalidated and has no live tasks and no events.
    public var sessionRemoved = false
    /// The number of changed tasks or of removed events.
    public var count: UInt64 = 0

    public init(session: SessionID, application: String, identifier: String, newestEvent: EventID) {
        self.session = session
        self.application = application
        self.identifier = identifier
        self.newestEvent = newestEvent
    }
}
