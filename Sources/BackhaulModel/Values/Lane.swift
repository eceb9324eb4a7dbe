/// All tasks of a session for one origin. The lane is removed with its last task. A later enqueue makes a lane with
/// another id.
public struct Lane: Equatable, Sendable {
    public let id: LaneID
    public let session: SessionID
    public let origin: Origin
    /// The scope is computed one time and stored, because it is read for each chunk of a body.
    public let networkScope: NetworkScope

    public init(id: LaneID, session: SessionID, origin: Origin) {
        self.id = id
        self.session = session
        self.origin = origin
        networkScope = NetworkScope(origin)
    }
}
