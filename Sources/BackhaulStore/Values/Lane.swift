public import BackhaulModel

/// All tasks of a session to one origin. The lane is removed with its last task. A later enqueue makes another one.
public struct Lane: Equatable, Sendable {
    public let id: LaneID
    public let session: SessionID
    public let origin: Origin
    /// Stored here, because it is read for each chunk of a body.
    public let networkScope: NetworkScope

    public init(id: LaneID, session: SessionID, origin: Origin) {
        self.id = id
        self.session = session
        self.origin = origin
        networkScope = NetworkScope(origin)
    }
}
