/// What a client asks of the engine. Each is answered by one `Reply`. Sent again with the same `CommandID`, it is
/// answered again and not applied again.
public enum Command: Equatable, Sendable {
    case createSession(SessionConfiguration, Role, HandleID)
    case attachSession(identifier: String, Role, HandleID)
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
}

/// What the engine tells a client without having been asked.
public enum Notice: Equatable, Sendable {
    /// An event was committed in a session of the client's application, attached or not.
    case event(identifier: String, newest: EventID)
}

/// What opens a connection: who speaks, and which versions it understands.
public struct Hello: Equatable, Sendable {
    public var client: ClientID
    public var application: String
    public var process: Int32
    public init(client: ClientID, application: String, process: Int32) {
        self.client = client
        self.application = application
        self.process = process
    }
}

/// Client to engine.
public enum ClientMessage: Equatable, Sendable {
    case hello(Hello)
    /// `answeredThrough`: every command of this client up to this sequence has its reply, so the engine may forget it.
    case command(sequence: UInt64, answeredThrough: UInt64, Command)
}

/// Engine to client.
public enum EngineMessage: Equatable, Sendable {
    /// Answers a hello; `process` is the engine's.
    case welcome(process: Int32)
    case reply(sequence: UInt64, Reply)
    case notice(Notice)
    /// The engine stops for this reason; the store may be opened again by whoever gets its lock.
    case goodbye(Failure?)
}
