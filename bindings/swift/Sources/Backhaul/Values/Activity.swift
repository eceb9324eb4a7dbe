internal import CBackhaul

/// Work that repeats (Apple: NSBackgroundActivityScheduler). It starts once in each window: when the conditions are as
/// its quality of service asks, at the latest when the window ends. Windows that passed while no engine ran are made up
/// for by one.
public struct Activity: Hashable, Sendable {
    /// What an activity waits for in its window.
    public enum QualityOfService: Int32, Hashable, Sendable {
        /// As `Preset.discretionary`.
        case background = 1
        /// An unmetered network.
        case utility = 2
        /// Nothing: it starts when its window opens.
        case userInitiated = 3
    }

    /// 1 to 255 bytes, its name within the session.
    public var identifier: String
    /// From one window's opening to the next: a second to ten years.
    public var interval: Duration
    /// How long a window is open; less than `interval`. Default half of it.
    public var tolerance: Duration?
    /// False: it runs once and is removed.
    public var repeats = true
    /// Default `.background`.
    public var qualityOfService: QualityOfService?
    /// What is enqueued, without `idempotencyKey`, body files, earliest and latest start; its destination with
    /// `.replace` or named by the server. No second task is made while one lives. Nil: `Event.activity`.
    public var request: Request?
    /// Unix time in milliseconds: opening of the first window, of an existing activity of the next one; nil: after
    /// `interval`.
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

/// An activity as lists show it.
public struct ActivityInfo: Hashable, Sendable {
    public let identifier: String
    public let interval: Duration
    public let tolerance: Duration
    public let repeats: Bool
    /// Nil: one that only a newer library has.
    public let qualityOfService: Activity.QualityOfService?
    /// Unix time in milliseconds: opening of the open or the next window.
    public let nextMilliseconds: Int64
    /// End of that window.
    public let nextEndsMilliseconds: Int64
    /// Nil: it has not started.
    public let lastStartedMilliseconds: Int64?
    public let lastTask: TaskID?
    /// Of the request; nil: an event.
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
