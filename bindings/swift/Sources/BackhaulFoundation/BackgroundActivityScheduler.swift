internal import Backhaul
public import Foundation

/// Has work done again and again, at a good moment of each interval: NSBackgroundActivityScheduler. Unlike Apple's, the
/// schedule outlives the program, which is launched when its work is due: make the scheduler again at each start, with
/// the same identifier, and `schedule` it before `BackgroundApplication.handleLaunch`.
public final class BackgroundActivityScheduler: NSObject, Sendable {
    /// What became of a run.
    public enum Result: Int, Sendable {
        case finished = 1
        /// It is to be done later: after the tolerance at the latest.
        case deferred = 2
    }

    /// May be called on any thread, once; more calls have no effect.
    public typealias CompletionHandler = @Sendable (Result) -> Void

    /// Names the activity within the application: 1 to 255 bytes.
    public let identifier: String
    private let settings = Locked(Settings())
    /// As `block`s run: one after the other.
    private let queue: DispatchQueue

    private struct Settings {
        var qualityOfService = QualityOfService.background
        var repeats = false
        var interval: TimeInterval = 0
        var tolerance: TimeInterval = 0
        var block: (@Sendable (@escaping CompletionHandler) -> Void)?
        var error: (any Error)?
        /// How often it was scheduled, now and when the last run began.
        var schedules = 0
        var schedulesAtRun = 0
    }

    public init(identifier: String) {
        self.identifier = identifier
        queue = DispatchQueue(label: "backhaul-activity \(identifier)")
        super.init()
    }

    /// What is waited for within the window: `.background`, the default, for what discretionary transfers wait for;
    /// `.utility` and `.default` for an unmetered network; higher ones for nothing.
    public var qualityOfService: QualityOfService {
        get { settings.with { $0.qualityOfService } }
        set { settings.with { $0.qualityOfService = newValue } }
    }

    public var repeats: Bool {
        get { settings.with { $0.repeats } }
        set { settings.with { $0.repeats = newValue } }
    }

    /// Seconds; at least one, at most ten years.
    public var interval: TimeInterval {
        get { settings.with { $0.interval } }
        set { settings.with { $0.interval = newValue } }
    }

    /// Seconds for which a window stays open; less than the interval. 0: half of it.
    public var tolerance: TimeInterval {
        get { settings.with { $0.tolerance } }
        set { settings.with { $0.tolerance = newValue } }
    }

    /// Not Apple's: why the last `schedule` or `invalidate` was refused. Apple's raises an exception, or is silent.
    public var error: (any Error)? { settings.with { $0.error } }

    /// Makes the schedule, durably, or goes on with the one of this identifier, whose next window stays as it is unless
    /// the interval is another. The block is called on a queue of the scheduler's own, and its work is done when it has
    /// called the handler it was given: a program that dies before is called again. Settings that are changed later
    /// hold from the next call of this method.
    public func schedule(_ block: @escaping @Sendable (_ completion: @escaping CompletionHandler) -> Void) {
        settings.with { settings in
            settings.block = block
            settings.schedules += 1
        }
        perform { host throws(BackhaulError) in
            try host.set(self, self.activity(firstMilliseconds: nil))
        }
    }

    /// Removes the schedule. A run that has begun goes on.
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

    // MARK: Within

    /// Calls the block. `isDone` is told once.
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

    /// The same once more, after the tolerance.
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
