public import BackhaulModel

/// All tasks of a session for one origin. Removed when the last of them is, and made anew by the next enqueue.
public struct Lane: Equatable, Sendable {
    public var id: LaneID
    public var session: SessionID
    public var origin: Origin

    public init(id: LaneID, session: SessionID, origin: Origin) {
        self.id = id
        self.session = session
        self.origin = origin
    }
}
