public import BackhaulModel

/// The row number of a wait record, which describes a time in which tasks wait. Later records have greater numbers, and
/// no number is reused.
public struct WaitID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The tasks that a wait record describes. All of them are in one session.
public struct WaitScope: Hashable, Sendable {
    public var session: SessionID
    /// The constraints of the tasks. Nil if the constraints of the tasks may differ.
    public var constraints: ConstraintsID?
    /// The lane of the tasks. Nil if the tasks may be in any lane.
    public var lane: LaneID?
    /// The single task to which the record applies; nil for a shared record.
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

/// A wait record without an end.
public struct OpenWait: Equatable, Sendable {
    public var id: WaitID
    public var scope: WaitScope
    public var reason: WaitReason
    public var sentence: String
    /// When the wait began, in Unix milliseconds.
    public var beganMilliseconds: Int64
}
