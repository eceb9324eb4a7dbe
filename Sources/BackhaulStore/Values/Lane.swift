public import BackhaulModel

/// Row number of a lane in its store; never used twice.
public struct LaneID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

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
