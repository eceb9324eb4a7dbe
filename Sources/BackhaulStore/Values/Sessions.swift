public import BackhaulModel
public import BackhaulPlatform

/// Who opens a session: a handle of a client, and the process that it lives in.
public struct ConsumerIdentity: Equatable, Sendable {
    public var client: ClientID
    public var handle: HandleID
    public var process: ProcessIdentity

    public init(client: ClientID, handle: HandleID, process: ProcessIdentity) {
        self.client = client
        self.handle = handle
        self.process = process
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
}
