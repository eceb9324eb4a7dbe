public import BackhaulModel

/// All tasks of a session for one origin (scheme, host name and port). The lane is removed with its last task. A later
/// enqueue makes a lane with another id.
public struct Lane: Equatable, Sendable {
    public let id: LaneID
    public let session: SessionID
    public let origin: Origin
    /// Where the origin is: on this machine, on the local link, or beyond. The value is computed one time and stored,
    /// because it is read for each chunk of a body.
    public let networkScope: NetworkScope

    public init(id: LaneID, session: SessionID, origin: Origin) {
        self.id = id
        self.session = session
        self.origin = origin
        networkScope = NetworkScope(origin)
    }
}
