public import BackhaulModel

/// The row number of an activity in its store. Later activities have greater numbers, and no number is reused.
public struct ActivityID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An activity whose window of time has opened.
public struct OpenActivity: Equatable, Sendable {
    public var id: ActivityID
    public var session: SessionID
    public var identifier: String
    /// When the stored window opened, in Unix milliseconds. Later windows may have opened since then.
    public var begin: Int64
    public var intervalMilliseconds: UInt64
    public var toleranceMilliseconds: UInt64
    public var repeats: Bool
    public var qualityOfService: QualityOfService
    /// Whether the activity has a request, from which each start makes a task. An activity without a request inserts an
    /// event for its host.
    public var hasRequest: Bool
    /// The last task that the activity made, if it has not ended.
    public var livingTask: TaskID?

    /// Returns the window that is current at `now`.
    public func window(now: Int64) -> ActivityWindow {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).current(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)
    }

    /// If the activity starts at `now`, returns when the next window opens. Returns nil if the activity has no further
    /// window.
    func next(now: Int64) -> Int64? {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).next(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)?.begin
    }
}

/// The result of an activity's start.
public struct ActivityStart: Equatable, Sendable {
    /// The change of the session. If the activity has no request, the change contains the activity's event.
    public var change: Change
    /// The enqueued tasks, if the activity has a request.
    public var enqueued: EnqueuedTasks?
}
