public import BackhaulModel
public import BackhaulPlatform

/// The handle that opens a session, with its client and the client's process.
public struct ConsumerIdentity: Equatable, Sendable {
    public var client: ClientID
    public var handle: HandleID
    public var process: ProcessIdentity
    /// The launch token that the process has sent; nil if the engine has not started the process. By this token, the
    /// engine recognises a program that the engine has started.
    public var launch: LaunchToken?

    public init(client: ClientID, handle: HandleID, process: ProcessIdentity, launch: LaunchToken? = nil) {
        self.client = client
        self.handle = handle
        self.process = process
        self.launch = launch
    }
}

/// The result of creating a session or of attaching to a session.
public struct OpenedSession: Equatable, Sendable {
    public var id: SessionID
    /// Whether this call created the session.
    public var isNew: Bool
    public var configuration: SessionConfiguration
    /// The newest committed event, even if it was acknowledged; zero if the session never had an event.
    public var newestEvent: EventID
    public var unacknowledged: UInt64
    public var isInvalidating: Bool
    /// The caller's application. This property is set only if both facts are true: the engine has started the
    /// caller's program for this session, and this call gave the caller the right to read the session's events.
    public var launchedApplication: String?
}
