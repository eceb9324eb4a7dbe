/// A command from a client to the engine. A client is the part of the library in a program (a *host*). The engine runs
/// the tasks. The engine sends one `Reply` to each command. If a client repeats a command with the same `CommandID`,
/// the engine repeats the reply, but does not apply the command a second time.
public enum Command: Equatable, Sendable {
    /// Creates a session, or attaches the handle (the host's reference) to the session if it exists. Only one handle at
    /// a time may consume a session, which means to read its events. `waits`: whether the reply is delayed until the
    /// session is free, if another handle consumes the session now.
    case createSession(SessionConfiguration, Role, HandleID, waits: Bool)
    case attachSession(identifier: String, Role, HandleID, waits: Bool)
    /// Ends the wait of a `createSession` or `attachSession` with this handle. The reply to that command is then a
    /// failure.
    case stopWaiting(HandleID)
    case closeSession(HandleID)
    case configuration(HandleID)
    case updateConfiguration(HandleID, SessionConfiguration)
    /// Stores one chunk of requests as tasks: either all of them or none.
    case enqueue(HandleID, [Request])
    case poll(HandleID, after: EventID, maximum: UInt32)
    case acknowledge(HandleID, Acknowledgement)
    /// `deliveredThrough`: the greatest event id that polls of this handle have returned.
    case complete(HandleID, deliveredThrough: EventID)
    case tasks(HandleID, TaskSelection, after: TaskID, maximum: UInt32)
    case control(HandleID, TaskControl, TaskSelection)
    case claim(HandleID, TaskID, Destination, ExistsPolicy)
    case invalidate(HandleID, cancelTasks: Bool)
    /// Lists the sessions of the client's application with identifiers greater than `after`, in pages.
    case sessions(after: String)
    case engine
    /// Registers the command with which the engine starts the application's program; nil removes the command.
    case setLaunch(LaunchCommand?)
    /// Lists the launch commands of all applications of the store.
    case launches
    /// Returns the launch by which the engine has started the client's process, directly or through another process.
    case currentLaunch
    case challenges(HandleID)
    case respond(HandleID, ChallengeID, ChallengeResponse, CredentialLifetime)
    /// Starts a stream of progress. An interval of 0 ends the stream.
    case watchProgress(HandleID, intervalMilliseconds: UInt32)
    case attempts(HandleID, TaskID)
    /// Reads the attempts of several tasks. Tasks that are missing are left out.
    case attemptsOfTasks(HandleID, [TaskID])
    case history(HandleID, after: TaskID, maximum: UInt32)
    case setLimits(EngineLimits)
    case limits
    case waits(HandleID, TaskID)
    /// Reads the waits of several tasks. Tasks that are missing are left out.
    case waitsOfTasks(HandleID, [TaskID])
    case conditions
    /// Lists the holds of all sessions of the store. A hold says why tasks may not run now.
    case holds
    case setNetwork(NetworkSettings)
    case networks
    /// Reads the metrics of the engine, as OpenMetrics text.
    case metrics
    /// Lists the applications of the store.
    case applications
    case setActivity(HandleID, Activity)
    case removeActivity(HandleID, identifier: String)
    case activities(HandleID)
}

public enum Acknowledgement: Equatable, Sendable {
    case ids([EventID])
    case through(EventID)

    /// The greatest id that the client acknowledges; zero if the list of ids is empty.
    public var greatest: EventID {
        switch self {
        case .ids(let ids): ids.max() ?? .zero
        case .through(let id): id
        }
    }

    /// The number of acknowledged ids. `last`: the greatest id that the client has acknowledged before. For `through`,
    /// the result is the number of ids after `last`; nil if `last` is nil. Some of these ids may belong to
    /// other sessions, or have no event.
    public func count(after last: EventID?) -> UInt64? {
        switch self {
        case .ids(let ids): UInt64(ids.count)
        case .through(let id): last.map { id > $0 ? id.rawValue - $0.rawValue : 0 }
        }
    }
}

/// The engine's reply to one command.
public enum Reply: Equatable, Sendable {
    case failed(Failure)
    case done
    case count(UInt64)
    /// `isNew`: whether this command has created the session. `newestEvent`: the session's newest committed event, even
    /// if this event is acknowledged.
    case session(SessionID, isNew: Bool, newestEvent: EventID, unacknowledged: UInt64)
    case configuration(SessionConfiguration)
    case enqueued([Enqueued])
    case events([Event], more: Bool)
    case tasks([TaskInfo], more: Bool)
    case sessions([SessionInfo], more: Bool)
    /// The reply to `complete`. `endsHandle`: whether the engine has closed the handle. The engine closes the handle if
    /// it has launched (started) the host for this session.
    case completed(endsHandle: Bool)
    case engine(EngineInfo)
    case launches([LaunchInfo])
    case currentLaunch(CurrentLaunch?)
    case challenges([Challenge])
    /// `more`: whether the reply has no room for all tasks of the command.
    case attempts([Attempt], more: Bool)
    case limits(EngineLimits)
    case waits([WaitRecord], more: Bool)
    case conditions([ConditionInfo])
    case holds([HoldInfo])
    case networks([NetworkInfo])
    case activities([ActivityInfo])
    /// OpenMetrics text.
    case metrics(String)
    case applications([ApplicationInfo])
}

/// A message that the engine sends to a client by itself, not as the reply to a command.
public enum Notice: Equatable, Sendable {
    /// An event was committed in a session of the client's application. The client gets this notice even if it has not
    /// attached the session.
    case event(identifier: String, newest: EventID)
    /// Another handle waits to consume a session that this client consumes.
    case yield(identifier: String)
    /// Events that the engine sends before a poll requests them: all unacknowledged events of the handle's session
    /// after `after` and up to `through`. `ClientMessage.credit` limits their number.
    case events(HandleID, after: EventID, through: EventID, [Event])
    /// Changed progress of tasks, for a handle that watches progress.
    case progress(HandleID, [Progress])
    /// The handle's session was invalidated and is now removed.
    case removed(HandleID)
    /// A new round of the handle's session has begun. So the event about the end of the last round, if the host has not
    /// read it yet, is withdrawn.
    case endWithdrawn(HandleID)
}

/// The client's first message of a connection, which identifies the client. On the socket, the connection preface with
/// the client's versions comes before these fields, in the same message.
public struct Hello: Equatable, Sendable {
    public var client: ClientID
    public var application: String
    public var process: Int32
    /// Whether the client is a tool that only observes, and does not count as a host.
    public var isObserver: Bool
    /// The launch token in the environment of the process, by which the engine recognises a host that it launched; nil
    /// if the environment has none.
    public var launch: LaunchToken?
    /// Closed clients of the same process. Perhaps no engine has noticed that they were closed.
    public var closedClients: [ClientID]

    public init(
        client: ClientID, application: String, process: Int32, isObserver: Bool = false, launch: LaunchToken? = nil,
        closedClients: [ClientID] = []
    ) {
        self.closedClients = closedClients
        self.client = client
        self.application = application
        self.process = process
        self.isObserver = isObserver
        self.launch = launch
    }
}

/// A message from the client to the engine.
public enum ClientMessage: Equatable, Sendable {
    case hello(Hello)
    /// A newer library requests that an older daemon exits. This message is sent in place of a hello. The form of this
    /// message never changes.
    case requestExit(Versions)
    /// `repliedThrough`: the client has the replies to all its commands up to this sequence, so the engine may forget
    /// these replies.
    case command(sequence: UInt64, repliedThrough: UInt64, Command)
    /// How many events the engine may send to the consuming handle of a session before polls request them. The engine
    /// sends no reply to a credit. Only the latest credit counts.
    case credit(HandleID, EventCredit)
}

/// A message from the engine to the client.
public enum EngineMessage: Equatable, Sendable {
    /// The reply to a hello of any version.
    case welcome(Welcome)
    case reply(sequence: UInt64, Reply)
    case notice(Notice)
    /// The engine stops for this reason. After the stop, another process can become the engine of the store.
    case goodbye(Failure?)
}
