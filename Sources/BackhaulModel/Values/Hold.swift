/// Why tasks are *held* (may not run now), and when this may change. A condition of the system, such as power or the
/// network, holds them.
public struct Hold: Equatable, Sendable {
    public var reason: WaitReason
    /// One sentence about the present state of the condition, and about the state that the condition must reach.
    public var sentence: String
    /// When the hold is checked again, in Unix milliseconds; nil: the hold is checked only when the condition changes.
    public var nextCheckMilliseconds: Int64?

    public init(_ reason: WaitReason, _ sentence: String, nextCheckMilliseconds: Int64? = nil) {
        self.reason = reason
        self.sentence = sentence
        self.nextCheckMilliseconds = nextCheckMilliseconds
    }
}

/// Tasks that are held, as listings show them: `bh_hold`.
public struct HoldInfo: Equatable, Sendable {
    public var application: String
    public var session: String
    /// The origin (scheme, host name and port) of the held tasks; nil: tasks of all origins are held.
    public var origin: String?
    public var hold: Hold
    /// When the hold began, in Unix milliseconds.
    public var beganMilliseconds: Int64
    public var tasks: UInt64

    public init(
        application: String, session: String, origin: String? = nil, hold: Hold, beganMilliseconds: Int64,
        tasks: UInt64
    ) {
        self.application = application
        self.session = session
        self.origin = origin
        self.hold = hold
        self.beganMilliseconds = beganMilliseconds
        self.tasks = tasks
    }
}

/// A period in which a task did not progress: `bh_wait`.
public struct WaitRecord: Equatable, Sendable {
    /// The task, in a listing of its waits. Otherwise zero.
    public var task = TaskID.zero
    public var reason: WaitReason
    public var sentence: String
    /// When the period began, in Unix milliseconds.
    public var beganMilliseconds: Int64
    /// When the period ended, in Unix milliseconds; nil if it has not ended.
    public var endedMilliseconds: Int64?

    public init(_ reason: WaitReason, _ sentence: String, beganMilliseconds: Int64, endedMilliseconds: Int64?) {
        self.reason = reason
        self.sentence = sentence
        self.beganMilliseconds = beganMilliseconds
        self.endedMilliseconds = endedMilliseconds
    }
}
