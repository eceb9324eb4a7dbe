public import BackhaulModel

/// All tasks of a session for one origin. Removed when the last of them is, and made anew by the next enqueue.
public struct Lane: Equatable, Sendable {
    public let id: LaneID
    public let session: SessionID
    public let origin: Origin
    /// Kept, because it is asked for with every piece of a body.
    public let reach: Reach

    public init(id: LaneID, session: SessionID, origin: Origin) {
        self.id = id
        self.session = session
        self.origin = origin
        reach = Reach(origin)
    }
}
