public import BackhaulModel

/// Row number of a time in which tasks were held back; grows, never used twice.
public struct WaitID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Which tasks of a session are held back together.
public struct WaitScope: Hashable, Sendable {
    public var session: SessionID
    /// Nil: of any.
    public var constraints: ConstraintsID?
    /// Nil: of any.
    public var lane: LaneID?
    /// That one alone.
    public var task: TaskID?

    public init(
        _ session: SessionID, constraints: ConstraintsID? = nil, lane: LaneID? = nil, task: TaskID? = nil
    ) {
        self.session = session
        self.constraints = constraints
        self.lane = lane
        self.task = task
    }
}

/// A time in which tasks are held back and that lasts.
public struct OpenWait: Equatable, Sendable {
    public var id: WaitID
    public var scope: WaitScope
    public var reason: WaitReason
    public var sentence: String
    /// Unix milliseconds.
    public var beganMilliseconds: Int64
}
