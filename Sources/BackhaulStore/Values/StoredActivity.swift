public import BackhaulModel

/// Row number of an activity in its store; grows, never used twice.
public struct ActivityID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An activity whose window has opened.
public struct OpenActivity: Equatable, Sendable {
    public var id: ActivityID
    public var session: SessionID
    public var identifier: String
    /// As its row has it: several windows may have opened since.
    public var begin: Int64
    public var intervalMilliseconds: UInt64
    public var toleranceMilliseconds: UInt64
    public var repeats: Bool
    public var qualityOfService: QualityOfService
    /// Else its host is told.
    public var hasRequest: Bool
    /// The last that it has made, as long as it lives.
    public var livingTask: TaskID?

    /// The window that counts at this moment.
    public func window(now: Int64) -> ActivityWindow {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).current(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)
    }

    /// The row's next window after a start now; nil: it has none.
    func next(now: Int64) -> Int64? {
        ActivityWindow(begin: begin, toleranceMilliseconds: toleranceMilliseconds).next(
            intervalMilliseconds: intervalMilliseconds, toleranceMilliseconds: toleranceMilliseconds,
            repeats: repeats, now: now)?.begin
    }
}

/// What the start of an activity has made.
public struct ActivityStart: Equatable, Sendable {
    /// With the event of one without a request.
    public var change: Change
    /// Of one with a request.
    public var enqueued: EnqueuedTasks?
}
