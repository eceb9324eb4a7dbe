/// How good the conditions must be for an activity to start within its window: `BH_QUALITY_…`. The engine starts it one
/// time in each window of time.
public enum QualityOfService: Int32, Sendable, CaseIterable {
    case background = 1
    case utility = 2
    case userInitiated = 3
}

/// An activity as a host sets it: `bh_activity`.
public struct Activity: Equatable, Sendable {
    public var identifier: String
    public var intervalMilliseconds: UInt64
    /// The length of a window.
    public var toleranceMilliseconds: UInt64
    public var repeats = true
    public var qualityOfService = QualityOfService.background
    /// The request from which the activity makes a task in each window. If it is nil, the host gets an event in each
    /// window. If the host does not run, the engine launches it for this event.
    public var request: Request?
    /// When the first window begins, in Unix milliseconds. If it is nil, the window begins after one interval.
    public var firstMilliseconds: Int64?

    public init(identifier: String, intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64? = nil) {
        self.identifier = identifier
        self.intervalMilliseconds = intervalMilliseconds
        self.toleranceMilliseconds = toleranceMilliseconds ?? intervalMilliseconds / 2
    }
}

/// An activity as listings show it.
public struct ActivityInfo: Equatable, Sendable {
    public var identifier: String
    public var intervalMilliseconds: UInt64
    public var toleranceMilliseconds: UInt64
    public var repeats: Bool
    public var qualityOfService: QualityOfService
    /// When the present or the next window begins, in Unix milliseconds.
    public var nextMilliseconds: Int64
    /// When the activity last started, in Unix milliseconds; nil if it has never started.
    public var lastStartedMilliseconds: Int64?
    public var lastTask: TaskID?
    /// The URL of the activity's request; nil if the activity has none.
    public var url: String?

    public init(
        identifier: String, intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64, repeats: Bool,
        qualityOfService: QualityOfService, nextMilliseconds: Int64, lastStartedMilliseconds: Int64? = nil,
        lastTask: TaskID? = nil, url: String? = nil
    ) {
        self.identifier = identifier
        self.intervalMilliseconds = intervalMilliseconds
        self.toleranceMilliseconds = toleranceMilliseconds
        self.repeats = repeats
        self.qualityOfService = qualityOfService
        self.nextMilliseconds = nextMilliseconds
        self.lastStartedMilliseconds = lastStartedMilliseconds
        self.lastTask = lastTask
        self.url = url
    }
}
