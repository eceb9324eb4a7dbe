/// The conditions for which an activity waits within its window: `BH_QUALITY_…`.
public enum QualityOfService: Int32, Sendable, CaseIterable {
    case background = 1
    case utility = 2
    case userInitiated = 3
}

/// Work that repeats: `bh_activity` as a host sets it.
public struct Activity: Equatable, Sendable {
    public var identifier: String
    public var intervalMilliseconds: UInt64
    /// How long a window stays open.
    public var toleranceMilliseconds: UInt64
    public var repeats = true
    public var qualityOfService = QualityOfService.background
    /// The request of which the activity makes a task. Nil: the host gets an event, and is launched for it.
    public var request: Request?
    /// The time at which the first window opens, in Unix milliseconds; nil: after the interval.
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
    /// The time at which the next window opens, or the open one did, in Unix milliseconds.
    public var nextMilliseconds: Int64
    /// The time of the last start, in Unix milliseconds; nil: it never started.
    public var lastStartedMilliseconds: Int64?
    public var lastTask: TaskID?
    /// The URL of the request.
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
