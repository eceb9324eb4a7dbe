internal import Backhaul
public import Foundation

/// A scheduler for work that is done once in each interval, when the conditions allow it (Apple:
/// NSBackgroundActivityScheduler).
///
/// Unlike on Apple's systems, the schedule is stored, and the engine launches the program when the work is due. At each
/// start, the program makes a scheduler with the same identifier, and calls `schedule` before
/// `BackgroundApplication.handleLaunch`.
public final class BackgroundActivityScheduler: NSObject, Sendable {
    /// The result of a run.
    public enum Result: Int, Sendable {
        /// The work is done.
        case finished = 1
        /// The work is not done. The block is called again in a new window, which opens after the tolerance.
        case deferred = 2
    }

    /// The handler that a block calls when its work is done. It may be called on any thread. Only the first call has an
    /// effect.
    public typealias CompletionHandler = @Sendable (Result) -> Void

    /// The name of the activity in its application: 1 to 255 bytes.
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
        /// The number of calls of `schedule` so far. `schedulesAtRun` is that number at the start of the last run.
        var schedules = 0
        var schedulesAtRun = 0
    }

    public init(identifier: String) {
        self.identifier = identifier
        queue = DispatchQueue(label: "backhaul-activity \(identifier)")
        super.init()
    }

    /// The conditions for which the work waits within its window.
    ///
    /// `.background`, which is the default, waits for the conditions of discretionary transfers. `.utility` and
    /// `.default` wait for an unmetered network. Higher qualities do not wait.
    public var qualityOfService: QualityOfService {
        get { settings.with { $0.qualityOfService } }
        set { settings.with { $0.qualityOfService = newValue } }
    }

    public var repeats: Bool {
        get { settings.with { $0.repeats } }
        set { settings.with { $0.repeats = newValue } }
    }

    /// The time from the opening of one window to the opening of the next, in seconds: one second to ten years.
    public var interval: TimeInterval {
        get { settings.with { $0.interval } }
        set { settings.with { $0.interval = newValue } }
    }

    /// How long a window stays open, in seconds, which is less than the interval. 0: half of the interval.
    public var tolerance: TimeInterval {
        get { settings.with { $0.tolerance } }
        set { settings.with { $0.tolerance = newValue } }
    }

    /// Not Apple's: why the last `schedule` or `invalidate` failed. Nil if it succeeded. Apple's scheduler raises an
    /// exception, or reports no error.
    public var error: (any Error)? { settings.with { $0.error } }

    /// Stores the schedule, or continues a stored one with the same identifier. A stored schedule keeps its next
    /// window, unless the interval changes.
    ///
    /// The block is called on the scheduler's own queue. The work is done when the block calls the handler. If the
    /// program ends before that, the block is called again after the next start of the program. A property that is
    /// changed later applies after the next call of this method.
    public func schedule(_ block: @escaping @Sendable (_ completion: @escaping CompletionHandler) -> Void) {
        settings.with { settings in
            settings.block = block
            settings.schedules += 1
        }
        perform { host throws(BackhaulError) in
            try host.set(self, self.activity(firstMilliseconds: nil))
        }
    }

    /// Removes the schedule. If the block is running, it continues.
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

    /// Calls the block on its queue. `isDone` is called once, with the first result.
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

    /// The activity of this scheduler, with a next window that opens after the tolerance.
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
