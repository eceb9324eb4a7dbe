public import BackhaulModel
public import BackhaulPlatform

/// The identity of a session's opener: a handle of a client, and the client's process.
public struct ConsumerIdentity: Equatable, Sendable {
    public var client: ClientID
    public var handle: HandleID
    public var process: ProcessIdentity
    /// The launch that started the process, as the process states.
    public var launch: LaunchToken?

    public init(client: ClientID, handle: HandleID, process: ProcessIdentity, launch: LaunchToken? = nil) {
        self.client = client
        self.handle = handle
        self.process = process
        self.launch = launch
    }
}

/// The result of create and attach.
public struct OpenedSession: Equatable, Sendable {
    public var id: SessionID
    /// Whether this call created the session.
    public var isNew: Bool
    public var configuration: SessionConfiguration
    /// The newest committed event, acknowledged or not; zero if there was none.
    public var newestEvent: EventID
    public var unacknowledged: UInt64
    public var isInvalidating: Bool
    /// The application whose launched host has now attached as consumer; nil if this was no launch.
    public var launchedApplication: String?
}
