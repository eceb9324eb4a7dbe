/// What a client asks of the engine. Each is answered by one `Reply`. Sent again with the same `CommandID`, it is
/// answered again and not applied again.
public enum Command: Equatable, Sendable {
    /// `waits`: while another handle consumes the session, the answer waits until it is free.
    case createSession(SessionConfiguration, Role, HandleID, waits: Bool)
    case attachSession(identifier: String, Role, HandleID, waits: Bool)
    /// Ends the waiting of a create or attach with this handle, whose answer is a failure then.
    case stopWaiting(HandleID)
    case closeSession(HandleID)
    case configuration(HandleID)
    case updateConfiguration(HandleID, SessionConfiguration)
    /// One atomic chunk.
    case enqueue(HandleID, [Request])
    case poll(HandleID, after: EventID, maximum: UInt32)
    case acknowledge(HandleID, Acknowledgement)
    /// `handedOut`: the greatest event id that this handle was handed.
    case complete(HandleID, handedOut: EventID)
    case tasks(HandleID, TaskSelection, after: TaskID, maximum: UInt32)
    case control(HandleID, TaskControl, TaskSelection)
    case claim(HandleID, TaskID, Destination, ExistsPolicy)
    case invalidate(HandleID, cancelTasks: Bool)
    /// All sessions of the client's application.
    case sessions
    case engine
    /// Registers the application's launch command; nil removes it.
    case setLaunch(LaunchCommand?)
    /// Of all applications of the store.
    case launches
    /// The launch that the client's process was started by.
    case currentLaunch
    case challenges(HandleID)
    case respond(HandleID, ChallengeID, ChallengeResponse, AnswerLife)
    /// 0 ends the stream.
    case watchProgress(HandleID, intervalMilliseconds: UInt32)
    case attempts(HandleID, TaskID)
    case history(HandleID, after: TaskID, maximum: UInt32)
    case setLimits(EngineLimits)
    case limits
    case waits(HandleID, TaskID)
    case conditions
    /// Of all sessions of the store.
    case holds
    case setNetwork(NetworkSettings)
    case networks
    case setActivity(HandleID, Activity)
    case removeActivity(HandleID, identifier: String)
    case activities(HandleID)
}

public enum Acknowledgement: Equatable, Sendable {
    case ids([EventID])
    case through(EventID)
}

/// The engine's answer to one command.
public enum Reply: Equatable, Sendable {
    case failed(Failure)
    case done
    case count(UInt64)
    /// `isNew`: created by this command. `newestEvent`: the session's newest committed event, acknowledged or not.
    case session(SessionID, isNew: Bool, newestEvent: EventID, unacknowledged: UInt64)
    case configuration(SessionConfiguration)
    case enqueued([Enqueued])
    case events([Event], more: Bool)
    case tasks([TaskInfo], more: Bool)
    case sessions([SessionInfo])
    /// The answer to complete. `endsHandle`: the handle was attached for a launch and is over.
    case completed(endsHandle: Bool)
    case engine(EngineInfo)
    case launches([LaunchInfo])
    case currentLaunch(CurrentLaunch?)
    case challenges([Challenge])
    case attempts([Attempt])
    case limits(EngineLimits)
    case waits([Wait])
    case conditions([ConditionInfo])
    case holds([HoldInfo])
    case networks([NetworkInfo])
    case activities([ActivityInfo])
}

/// What the engine tells a client without having been asked.
public enum Notice: Equatable, Sendable {
    /// An event was committed in a session of the client's application, attached or not.
    case event(identifier: String, newest: EventID)
    /// Another handle waits to consume a session that this client consumes.
    case yield(identifier: String)
    /// All unacknowledged events of the handle's session after `after` and up to `through`, as its credit allows.
    case events(HandleID, after: EventID, through: EventID, [Event])
    /// Readings of tasks that have changed, for a handle that watches.
    case progress(HandleID, [Progress])
}

/// What opens a connection: who speaks, and which versions it understands.
public struct Hello: Equatable, Sendable {
    public var client: ClientID
    public var application: String
    public var process: Int32
    /// A tool that looks on: it does not count as a host.
    public var isObserver: Bool
    /// What the process has in its environment from a launch.
    public var launch: LaunchToken?
    /// Clients of the same process that were closed while no engine may have heard of it.
    public var departed: [ClientID]

    public init(
        client: ClientID, application: String, process: Int32, isObserver: Bool = false, launch: LaunchToken? = nil,
        departed: [ClientID] = []
    ) {
        self.departed = departed
        self.client = client
        self.application = application
        self.process = process
        self.isObserver = isObserver
        self.launch = launch
    }
}

/// Client to engine.
public enum ClientMessage: Equatable, Sendable {
    case hello(Hello)
    /// A newer library asks an older daemon to make room. In place of a hello; its form never changes.
    case leave(Versions)
    /// `answeredThrough`: every command of this client up to this sequence has its reply, so the engine may forget it.
    case command(sequence: UInt64, answeredThrough: UInt64, Command)
    /// How much of a consumed session's events may be pushed. Has no reply; the latest counts.
    case credit(HandleID, EventCredit)
}

/// Engine to client.
public enum EngineMessage: Equatable, Sendable {
    /// Answers a hello of any version.
    case welcome(Welcome)
    case reply(sequence: UInt64, Reply)
    case notice(Notice)
    /// The engine stops for this reason; the store may be opened again by whoever gets its lock.
    case goodbye(Failure?)
}
