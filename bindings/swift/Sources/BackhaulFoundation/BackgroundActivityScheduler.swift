internal import Backhaul
public import Foundation

/// A scheduler for work that is done once in each interval, when the conditions allow it (Apple:
/// NSBackgroundActivityScheduler).
///
/// There are two differences from Apple's systems. First, the schedule is stored, and the *engine* launches the program
/// when the work is due. The engine is usually a separate process, which also performs the transfers. At each start,
/// the program must therefore make a scheduler with the same identifier, and call `schedule` before
/// `BackgroundApplication.handleLaunch`. Second, each interval has one *window*, the time in which the work may start.
public final class BackgroundActivityScheduler: NSObject, Sendable {
    /// The result of a run.
    public enum Result: Int, Sendable {
        /// The work is done.
        case finished = 1
        /// The work is not done. The block is called again in a new window, which opens after the time `tolerance`.
        case deferred = 2
    }

    /// The handler that a block calls with its result. The block may call the handler on any thread. Only the first
    /// call has an effect.
    public typealias CompletionHandler = @Sendable (Result) -> Void

    /// The name of the activity (the stored schedule) in its application: 1 to 255 bytes.
    public let identifier: String
    private let settings = Locked(Settings())
    /// The serial queue on which the block runs.
    private let queue: DispatchQueue

    private struct Settings {
        var qualityOfService = QualityOfService.background
        var repeats = false
        var interval: TimeInterval = 0
        var tolerance: TimeInterval = 0
        var block: (@Sendable (@escaping CompletionHandler) -> Void)?
        var error: (any Error)?
        /// The number of calls of `schedule` so far. `schedulesAtRun` is the value of this number at the start of the
        /// last run.
        var schedules = 0
        var schedulesAtRun = 0
    }

    /// Makes a scheduler. A later run of the program makes the same scheduler with the same identifier.
    public init(identifier: String) {
        self.identifier = identifier
        queue = DispatchQueue(label: "backhaul-activity \(identifier)")
        super.init()
    }

    /// Which conditions must be met before the work starts in its window. At the end of the window, the work starts
    /// even if the conditions are not met.
    ///
    /// With `.background`, the default, the work waits for the conditions of discretionary transfers
    /// (`BackgroundURLSessionConfiguration.isDiscretionary`). With `.utility` or `.default`, it waits for an unmetered
    /// network. With a higher quality, the work starts when its window opens.
    public var qualityOfService: QualityOfService {
        get { settings.with { $0.qualityOfService } }
        set { settings.with { $0.qualityOfService = newValue } }
    }

    /// Whether the work repeats. False: the work is done one time.
    public var repeats: Bool {
        get { settings.with { $0.repeats } }
        set { settings.with { $0.repeats = newValue } }
    }

    /// The time in seconds from the opening of one window to the opening of the next window: one second to ten years.
    public var interval: TimeInterval {
        get { settings.with { $0.interval } }
        set { settings.with { $0.interval = newValue } }
    }

    /// How long a window stays open, in seconds. This time must be less than the interval. 0 means half of the
    /// interval.
    public var tolerance: TimeInterval {
        get { settings.with { $0.tolerance } }
        set { settings.with { $0.tolerance = newValue } }
    }

    /// Not in Apple's API: why the last call of `schedule` or `invalidate` failed. Nil if the call succeeded. Apple's
    /// scheduler raises an exception, or reports no error.
    public var error: (any Error)? { settings.with { $0.error } }

    /// Stores the schedule. If a schedule with the same identifier is already stored, the new settings replace the old
    /// ones. If the interval is the same, the stored schedule keeps its next window.
    ///
    /// The block is called on the scheduler's own queue. The run ends when the block calls the handler. If the program
    /// ends before the block calls the handler, the block is called again after the next start of the program. If the
    /// program changes a property after the call of `schedule`, the change applies after the next call.
    public func schedule(_ block: @escaping @Sendable (_ completion: @escaping CompletionHandler) -> Void) {
        settings.with { settings in
            settings.block = block
            settings.schedules += 1
        }
        perform { host throws(BackhaulError) in
            try host.set(self, self.activity(firstMilliseconds: nil))
        }
    }

    /// Removes the schedule. A running block continues.
    public func invalidate() {
        perform { host throws(BackhaulError) in
            do throws(BackhaulError) {
                try host.remove(self)
            } catch {
                guard error.status == .notFound else { throw error }
            }
        }
    }

    private func perform(_ verb: (ActivityHost) throws(BackhaulError) -> Void) {
        do throws(BackhaulError) {
            try verb(ActivityHost.shared)
            settings.with { $0.error = nil }
        } catch {
            settings.with { $0.error = error }
        }
    }

    // MARK: Internal

    /// Calls the block on the scheduler's queue. `isDone` is called one time, with the first result of the block.
    func run(_ isDone: @escaping CompletionHandler) {
        let block = settings.with { settings in
            settings.schedulesAtRun = settings.schedules
            return settings.block
        }
        guard let block else { return isDone(.finished) }
        let isOpen = Locked(true)
        queue.async {
            block { result in
                let isFirst = isOpen.with { isOpen in
                    defer { isOpen = false }
                    return isOpen
                }
                if isFirst { isDone(result) }
            }
        }
    }

    var isUnchangedSinceRun: Bool { settings.with { $0.schedulesAtRun == $0.schedules } }

    /// The activity of this scheduler after a deferred run. Its next window opens after the tolerance.
    func deferred() -> Activity {
        let settings = self.settings.with { $0 }
        let seconds = settings.tolerance > 0 ? settings.tolerance : settings.interval / 2
        return activity(firstMilliseconds: milliseconds(Date(timeIntervalSinceNow: max(1, seconds))))
    }

    private func activity(firstMilliseconds: Int64?) -> Activity {
        let settings = self.settings.with { $0 }
        var activity = Activity(identifier, every: duration(settings.interval))
        activity.tolerance = settings.tolerance > 0 ? duration(settings.tolerance) : nil
        activity.repeats = settings.repeats
        activity.qualityOfService =
            switch settings.qualityOfService {
            case .background: .background
            case .utility, .default: .utility
            default: .userInitiated
            }
        activity.firstMilliseconds = firstMilliseconds
        return activity
    }
}
