/// A task that has not ended, with the facts that matter when its start times change. Times are Unix milliseconds.
public struct ScheduledTask: Equatable, Sendable {
    public enum Standing: Equatable, Sendable {
        /// The task waits for a slot, the right to run.
        case ready
        /// The task waits until this time for its next run.
        case retry(Int64)
        /// The task waits for its earliest start.
        case early
        /// The task runs, is suspended, or waits for something other than a time.
        case other
    }

    public var id: TaskID
    public var earliest: Int64?
    public var latest: Int64?
    public var standing: Standing

    public init(id: TaskID, earliest: Int64?, latest: Int64?, standing: Standing) {
        self.id = id
        self.earliest = earliest
        self.latest = latest
        self.standing = standing
    }
}

/// The effects of new start times (the earliest and the latest start) on a task.
public struct RescheduleDecision: Equatable, Sendable {
    public enum Delay: Equatable, Sendable {
        /// The delay of the task does not change.
        case unchanged
        /// The task is not delayed any more, and waits for a slot.
        case ended
        /// The task waits for its earliest start, in Unix milliseconds.
        case until(Int64)
    }

    public var earliest: Int64?
    public var latest: Int64?
    public var delay: Delay

    /// Returns nil if the start times do not change. Throws if the task could never start.
    public static func decide(
        _ task: ScheduledTask, _ rescheduling: Rescheduling, now: Int64
    ) throws(Failure) -> RescheduleDecision? {
        let earliest = rescheduling.earliest.applied(to: task.earliest)
        let latest = rescheduling.latest.applied(to: task.latest)
        guard earliest != task.earliest || latest != task.latest else { return nil }
        if let earliest, let latest, latest < earliest {
            throw Failure(
                .invalidArgument,
                "the latest_start_ms of task \(task.id.rawValue) would be \(latest), before its earliest_start_ms, "
                    + "\(earliest); give both, or 0 for none")
        }
        let delay: Delay =
            earliest == task.earliest ? .unchanged : delay(task.standing, until: earliest, now: now)
        return RescheduleDecision(earliest: earliest, latest: latest, delay: delay)
    }

    /// Throws if the latest start is before the earliest start.
    public static func check(_ rescheduling: Rescheduling) throws(Failure) {
        guard case .to(let earliest?) = rescheduling.earliest, case .to(let latest?) = rescheduling.latest,
            latest < earliest
        else { return }
        throw Failure(.invalidArgument, "latest_start_ms is \(latest), before earliest_start_ms, \(earliest)")
    }

    private static func delay(_ standing: ScheduledTask.Standing, until earliest: Int64?, now: Int64) -> Delay {
        let start = earliest.flatMap { $0 > now ? $0 : nil }
        switch (standing, start) {
        case (.early, nil): return .ended
        case (.early, let start?), (.ready, let start?): return .until(start)
        case (.retry(let due), let start?) where due < start: return .until(start)
        case (.ready, nil), (.retry, _), (.other, _): return .unchanged
        }
    }
}
