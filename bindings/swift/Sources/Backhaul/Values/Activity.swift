internal import CBackhaul

/// Work that repeats in windows of time (Apple: NSBackgroundActivityScheduler).
///
/// An activity starts once in each window: when the conditions of its quality of service are met, or at the end of the
/// window. If windows passed while no engine ran, it starts once for all of them.
public struct Activity: Hashable, Sendable {
    /// What an activity waits for in its window.
    public enum QualityOfService: Int32, Hashable, Sendable {
        /// The conditions of `Preset.discretionary`.
        case background = 1
        /// An unmetered network.
        case utility = 2
        /// Nothing: it starts when its window opens.
        case userInitiated = 3
    }

    /// The activity's name within the session: 1 to 255 bytes.
    public var identifier: String
    /// The time from one window's opening to the next: a second to ten years.
    public var interval: Duration
    /// How long a window is open; less than `interval`. Default: half of it.
    public var tolerance: Duration?
    /// Whether the activity runs in each window. False: it runs once and is removed.
    public var repeats = true
    /// What the activity waits for in its window. Default: `.background`.
    public var qualityOfService: QualityOfService?
    /// The request that the engine enqueues in each window. Nil: the host gets `Event.activity` instead.
    ///
    /// The request has no `idempotencyKey`, no body files and no start times. Its destination needs `.replace` or
    /// `isNamedByServer`. While a task of the activity has not ended, no second one is made.
    public var request: Request?
    /// When the first window opens, or the next one of an existing activity, as Unix time in milliseconds. Nil: after
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

/// An activity in a list.
public struct ActivityInfo: Hashable, Sendable {
    public let identifier: String
    public let interval: Duration
    public let tolerance: Duration
    public let repeats: Bool
    /// Nil if only a newer version of the library has this value.
    public let qualityOfService: Activity.QualityOfService?
    /// When the open window opened, or the next one opens, as Unix time in milliseconds.
    public let nextMilliseconds: Int64
    /// The end of that window, as Unix time in milliseconds.
    public let nextEndsMilliseconds: Int64
    /// The last start, as Unix time in milliseconds; nil if the activity has not started.
    public let lastStartedMilliseconds: Int64?
    public let lastTask: TaskID?
    /// The URL of the activity's request; nil if it has none and makes an event.
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
