internal import CBackhaul

/// Work that repeats (Apple: NSBackgroundActivityScheduler), in a window that opens an interval after the last one was
/// due and stays open for the tolerance. It starts in it when the conditions are as its quality of service asks, and at
/// its end in any case, once; windows that passed while no engine ran are made up for by one.
public struct Activity: Hashable, Sendable {
    /// What an activity waits for within its window.
    public enum QualityOfService: Int32, Hashable, Sendable {
        /// As `Preset.discretionary`.
        case background = 1
        /// An unmetered network.
        case utility = 2
        /// Nothing: it starts when its window opens.
        case userInitiated = 3
    }

    /// Its name within the session; 1 to 255 bytes.
    public var identifier: String
    /// A second or more, at most ten years.
    public var interval: Duration
    /// How long the window stays open; less than the interval. Default half of it.
    public var tolerance: Duration?
    /// False: once, then it is removed.
    public var repeats = true
    /// Default `.background`.
    public var qualityOfService: QualityOfService?
    /// What is enqueued, without an idempotency key, files of a body, earliest and latest start; a destination with
    /// `.replace`, or named by the server. While its last task lives no other is made. Nil: `Event.activity`, which
    /// launches; while that is unacknowledged no other is made.
    public var request: Request?
    /// Unix time in milliseconds when the first window opens; nil: after the interval. Of one that exists: its next
    /// window.
    public var firstMilliseconds: Int64?

    public init(_ identifier: String, every interval: Duration, request: Request? = nil) {
        self.identifier = identifier
        self.interval = interval
        self.request = request
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_activity {
        var value = bh_activity()
        value.struct_size = MemoryLayout<bh_activity>.size
        value.identifier = try arena.string(identifier, "the activity's identifier")
        value.interval_ms = try positive(interval, "interval")
        value.tolerance_ms = try positive(tolerance, "tolerance")
        value.repeats = choice(repeats)
        value.quality_of_service = qualityOfService?.rawValue ?? 0
        if let request { value.request = arena.array([try request.value(arena)]) }
        value.first_ms = firstMilliseconds ?? 0
        return value
    }
}

/// An activity as listings show it.
public struct ActivityInfo: Hashable, Sendable {
    public let identifier: String
    public let interval: Duration
    public let tolerance: Duration
    public let repeats: Bool
    /// Nil: one that only a newer library knows.
    public let qualityOfService: Activity.QualityOfService?
    /// Unix time in milliseconds when the next window opens, or the open one has.
    public let nextMilliseconds: Int64
    /// When that window ends.
    public let nextEndsMilliseconds: Int64
    /// Nil: it has not started yet.
    public let lastStartedMilliseconds: Int64?
    public let lastTask: TaskID?
    /// Of its request; nil: it is told by an event.
    public let url: String?

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ activity: bh_activity) {
        identifier = text(activity.identifier) ?? ""
        interval = .milliseconds(Int64(clamping: activity.interval_ms))
        tolerance = .milliseconds(Int64(clamping: activity.tolerance_ms))
        repeats = Int(activity.repeats) != BH_NO
        qualityOfService = Activity.QualityOfService(rawValue: activity.quality_of_service)
        nextMilliseconds = activity.next_ms
        nextEndsMilliseconds = activity.next_ends_ms
        lastStartedMilliseconds = activity.last_started_ms == 0 ? nil : activity.last_started_ms
        lastTask = activity.last_task == 0 ? nil : activity.last_task
        url = text(activity.url)
    }
}
