/// What an activity waits for within its window: `BH_QUALITY_…`.
public enum QualityOfService: Int32, Sendable, CaseIterable {
    case background = 1
    case utility = 2
    case userInitiated = 3
}

/// Work that repeats: `bh_activity` as a host sets it.
public struct Activity: Equatable, Sendable {
    public var identifier: String
    public var intervalMilliseconds: UInt64
    /// How long its window stays open.
    public var toleranceMilliseconds: UInt64
    public var repeats = true
    public var qualityOfService = QualityOfService.background
    /// Nil: the host is told, and launched for it.
    public var request: Request?
    /// Unix milliseconds when the first window opens; nil: after the interval.
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
    /// Unix milliseconds when its next window opens, or the open one has.
    public var nextMilliseconds: Int64
    /// Unix milliseconds; nil: never yet.
    public var lastStartedMilliseconds: Int64?
    public var lastTask: TaskID?
    /// Of the request.
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
