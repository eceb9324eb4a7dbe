public import BackhaulModel

/// The row number of an activity in its store. It grows, and is never reused.
public struct ActivityID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An activity whose window has opened.
public struct OpenActivity: Equatable, Sendable {
    public var id: ActivityID
    public var session: SessionID
    public var identifier: String
    /// The begin of the window in the row, in Unix milliseconds. Later windows may have opened since.
    public var begin: Int64
    public var intervalMilliseconds: UInt64
    public var toleranceMilliseconds: UInt64
    public var repeats: Bool
    public var qualityOfService: QualityOfService
    /// Whether the activity enqueues a request. Otherwise it makes an event for its host.
    public var hasRequest: Bool
    /// The last task that the activity made, if it has not ended.
    public var livingTask: TaskID?

    /// The window that is current at `now`.
    public func window(now: Int64) -> ActivityWindow {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).current(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)
    }

    /// The begin of the row's next window after a start at `now`; nil if there is none.
    func next(now: Int64) -> Int64? {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).next(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)?.begin
    }
}

/// The result of an activity's start.
public struct ActivityStart: Equatable, Sendable {
    /// The change of the session. Without a request it contains the activity's event.
    public var change: Change
    /// The enqueued tasks, if the activity has a request.
    public var enqueued: EnqueuedTasks?
}
