internal import CBackhaul

/// Work that repeats in windows of time (Apple: NSBackgroundActivityScheduler).
///
/// An activity starts one time in each window. It starts when the conditions of its quality of service are met. If they
/// are not met in the window, the activity starts at the end of the window. The engine starts activities. If several
/// windows passed while no engine was running, the activity starts one time for all these windows.
public struct Activity: Hashable, Sendable {
    /// The conditions for which an activity waits in its window.
    public enum QualityOfService: Int32, Hashable, Sendable {
        /// The activity waits for the conditions of `Preset.discretionary`.
        case background = 1
        /// The activity waits for an unmetered network.
        case utility = 2
        /// The activity starts immediately when its window opens.
        case userInitiated = 3
    }

    /// The name of the activity in its session: 1 to 255 bytes.
    public var identifier: String
    /// The time from the opening of one window to the opening of the next window: one second to ten years.
    public var interval: Duration
    /// How long a window stays open. This time must be less than `interval`. Default: half of `interval`.
    public var tolerance: Duration?
    /// Whether the activity starts in each window. False: the activity starts one time, and is then removed.
    public var repeats = true
    /// The conditions for which the activity waits in its window. Default: `.background`.
    public var qualityOfService: QualityOfService?
    /// The request that the engine enqueues in each window. Nil: the engine delivers `Event.activity` instead.
    ///
    /// The request must not have an `idempotencyKey`, body files or start times. If it has a destination, it also needs
    /// `.replace` or `isNamedByServer`. Until a task of the activity has ended, the engine makes no second task.
    public var request: Request?
    /// When the next window opens, as Unix time in milliseconds. For a new activity, this is the first window. Nil: the
    /// next window opens one `interval` after the call of `Session.setActivity`. But if the call replaces an activity
    /// and keeps its `interval`, nil does not change the next window.
    public var firstMilliseconds: Int64?

    /// Makes an activity that starts one time in each `interval`.
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
    /// The name of the activity in its session.
    public let identifier: String
    /// The time from the opening of one window to the opening of the next window.
    public let interval: Duration
    /// How long a window stays open.
    public let tolerance: Duration
    /// Whether the activity starts in each window. False: it starts one time, and is then removed.
    public let repeats: Bool
    /// Nil if the value is from a newer version of the library.
    public let qualityOfService: Activity.QualityOfService?
    /// When the present window opened, as Unix time in milliseconds. If no window is open: when the next window opens.
    public let nextMilliseconds: Int64
    /// When the window that opens at `nextMilliseconds` ends, as Unix time in milliseconds.
    public let nextEndsMilliseconds: Int64
    /// When the activity last started, as Unix time in milliseconds. Nil if it has not started yet.
    public let lastStartedMilliseconds: Int64?
    /// The task of the last start. Nil if the activity has no request, or has not started yet.
    public let lastTask: TaskID?
    /// The URL of the activity's request. Nil if the activity has no request, and delivers events instead.
    public let url: String?

    // Unsafe: the pointers point into a batch, which is released after its items are copied.
    init(_ activity: bh_activity) {
        identifier = text(activity.identifier) ?? ""
        interval = .milliseconds(Int64(clamping: activity.interval_ms))
        tolerance = .milliseconds(Int64(clamping: activity.tolerance_ms))
        repeats = Int(activity.repeats) != BH_NO
        qualityOfService = Activity.QualityOfService(rawValue: activity.quality_of_service)
        nextMilliseconds = activity.next_ms
        nextEndsMilliseconds = activity.next_ends_ms
        lastStartedMilliseconds = activity.last_started_ms == 0 ? nil : activity.last_started_ms
        lastTask = nonzero(activity.last_task).map { TaskID(rawValue: $0) }
        url = text(activity.url)
    }
}
