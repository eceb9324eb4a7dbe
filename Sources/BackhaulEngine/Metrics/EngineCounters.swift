internal import BackhaulModel

/// Counts what the engine has done since its start, for its metrics. Each engine has one object of this type, and only
/// the loop's thread uses it. Each event costs one or two additions; nothing else happens until the metrics are read.
final class EngineCounters {
    /// How an attempt ended.
    enum AttemptOutcome: String, CaseIterable {
        /// The task ended.
        case succeeded, failed
        /// The task is tried again after the failure.
        case retried
        /// The task waits for a credential.
        case challenged
        /// The attempt was stopped without a failure, for example by a command or for a more important task.
        case stopped
    }

    enum LaunchResult: String, CaseIterable { case started, failed }

    /// What an attempt moved, and how it ended.
    struct EndedAttempt {
        var outcome: AttemptOutcome
        /// Why the task is tried again; nil if it is not tried again.
        var retryReason: Status?
        /// The bytes that an earlier attempt had received, and that were not requested again.
        var resumedBytes: UInt64
    }

    private(set) var receivedBytes: UInt64 = 0
    private(set) var sentBytes: UInt64 = 0
    private(set) var resumedBytes: UInt64 = 0
    private(set) var endedTasks: [TaskState: UInt64] = [:]
    private(set) var attempts: [AttemptOutcome: UInt64] = [:]
    private(set) var retries: [Status: UInt64] = [:]
    private(set) var launches: [LaunchResult: UInt64] = [:]

    func received(_ count: Int) { receivedBytes &+= UInt64(count) }
    func sent(_ count: Int) { sentBytes &+= UInt64(count) }

    func ended(_ attempt: EndedAttempt) {
        attempts[attempt.outcome, default: 0] &+= 1
        resumedBytes &+= attempt.resumedBytes
        if let reason = attempt.retryReason { retries[reason, default: 0] &+= 1 }
    }

    func tasksEnded(_ count: Int, as state: TaskState) { endedTasks[state, default: 0] &+= UInt64(count) }

    func launched(_ result: LaunchResult) { launches[result, default: 0] &+= 1 }
}
