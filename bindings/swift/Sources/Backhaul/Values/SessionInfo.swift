internal import CBackhaul

/// A session in a listing. The *host* is the program that uses this library. The *engine* is the process that runs the
/// tasks. If a session needs its host while no host is connected, the engine can start the host. Such a start is a
/// *launch*.
public struct SessionInfo: Hashable, Sendable {
    /// The session's identifier.
    public let identifier: String
    /// The number of the current or last round. A round begins when a task is added to a session without unfinished
    /// tasks, and ends when all tasks have ended. 0 before the first task.
    public let round: UInt64
    /// The number of tasks that have not ended.
    public let liveTasks: UInt64
    /// The number of events that are not acknowledged.
    public let events: UInt64
    /// Whether there are events that are not acknowledged.
    public let needsAttention: Bool
    /// Whether one of the unacknowledged events is `Event.sessionFinished`.
    public let hasFinished: Bool
    /// Whether a challenge is open: a demand for a credential, new headers or a new URL.
    public let hasChallenge: Bool
    /// Whether another handle waits to become the *consumer*, which is the handle that gets the events. If true, the
    /// present consumer should finish its work, call `Session.complete`, and close the session.
    public let asksToYield: Bool
    /// Whether one of the unacknowledged events is `Event.activity`.
    public let hasActivity: Bool
    /// Whether the session was invalidated (`Session.invalidate`).
    public let isInvalidated: Bool
    /// The id of the process to which the consumer belongs. Nil if there is no consumer.
    public let consumer: Int64?
    /// When the session was created, as Unix time in milliseconds.
    public let createdMilliseconds: Int64
    /// The number of open challenges.
    public let openChallenges: UInt64
    /// The time at which the engine found that the consumer's process is stopped, as Unix time in milliseconds.
    /// SIGSTOP, a debugger or the cgroup freezer stops a process. Nil if the process is not stopped.
    public let consumerStoppedMilliseconds: Int64?
    /// The number of handles that wait to become the consumer (`Role.consumeWhenFree`).
    public let waitingConsumers: Int
    /// The state of the application's launch. `.notNeeded` if this session does not need its host, or if the state is
    /// from a newer version of the library.
    public let launchState: LaunchState
    /// When the next launch is due, as Unix time in milliseconds. Nil if no launch is due.
    public let nextLaunchMilliseconds: Int64?

    init(_ info: bh_session_info) {
        identifier = text(info.identifier) ?? ""
        round = info.round
        liveTasks = info.live_tasks
        events = info.events
        needsAttention = Int(info.attention) & BH_ATTENTION_EVENTS != 0
        hasFinished = Int(info.attention) & BH_ATTENTION_FINISHED != 0
        hasChallenge = Int(info.attention) & BH_ATTENTION_CHALLENGE != 0
        asksToYield = Int(info.attention) & BH_ATTENTION_YIELD != 0
        hasActivity = Int(info.attention) & BH_ATTENTION_ACTIVITY != 0
        isInvalidated = info.is_invalidated
        consumer = info.consumer == 0 ? nil : info.consumer
        createdMilliseconds = info.created_ms
        openChallenges = info.open_challenges
        consumerStoppedMilliseconds = info.consumer_stopped_ms == 0 ? nil : info.consumer_stopped_ms
        waitingConsumers = Int(info.waiting_consumers)
        launchState = LaunchState(rawValue: info.launch_state) ?? .notNeeded
        nextLaunchMilliseconds = info.next_launch_ms == 0 ? nil : info.next_launch_ms
    }
}

/// What a handle may do. A handle with any role may list tasks.
public enum Role: Hashable, Sendable {
    /// The handle reads and acknowledges events, and completes the session. Only one handle at a time has this role.
    /// This role includes the rights of all other roles.
    case consume
    /// The handle enqueues and controls tasks, moves downloaded files out of the store, responds to challenges, and
    /// sets activities. It also configures and invalidates the session.
    case produce
    /// The handle lists tasks, and watches their progress.
    case observe
    /// The handle waits until no other handle consumes the session. It then has the role `consume`. During the wait,
    /// `SessionInfo.asksToYield` is true. A cancellation of the Swift task ends the wait.
    case consumeWhenFree

    var rawValue: Int32 {
        switch self {
        case .consume: Int32(BH_ROLE_CONSUME)
        case .produce: Int32(BH_ROLE_PRODUCE)
        case .observe: Int32(BH_ROLE_OBSERVE)
        case .consumeWhenFree: Int32(BH_ROLE_CONSUME_WHEN_FREE)
        }
    }
}
