public import BackhaulModel
public import BackhaulPlatform

/// Who opens a session: a handle of a client, and the process that it lives in.
public struct ConsumerIdentity: Equatable, Sendable {
    public var client: ClientID
    public var handle: HandleID
    public var process: ProcessIdentity
    /// The launch that the process says it was started by.
    public var launch: LaunchToken?

    public init(client: ClientID, handle: HandleID, process: ProcessIdentity, launch: LaunchToken? = nil) {
        self.client = client
        self.handle = handle
        self.process = process
        self.launch = launch
    }
}

/// The answer to create and attach.
public struct OpenedSession: Equatable, Sendable {
    public var id: SessionID
    /// Created by this call.
    public var isNew: Bool
    public var configuration: SessionConfiguration
    /// The newest committed event, acknowledged or not; zero when there was none.
    public var newestEvent: EventID
    public var unacknowledged: UInt64
    public var isInvalidating: Bool
    /// The application whose launched host consumes now what it was launched for.
    public var launchedApplication: String?
}
