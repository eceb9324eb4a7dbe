internal import CBackhaul

/// A session as the application's list shows it.
public struct SessionInfo: Hashable, Sendable {
    public let identifier: String
    /// Number of the current or last round; 0 before the first enqueue.
    public let round: UInt64
    /// Tasks that have not ended.
    public let liveTasks: UInt64
    /// Events that are not acknowledged.
    public let events: UInt64
    /// Events wait to be acknowledged.
    public let needsAttention: Bool
    /// Among them is a `sessionFinished`.
    public let hasFinished: Bool
    /// A challenge is open.
    public let hasChallenge: Bool
    /// Another handle waits to consume the session: finish, complete and close.
    public let asksToYield: Bool
    /// Among its events is an `activity`.
    public let hasActivity: Bool
    /// After `Session.invalidate`.
    public let isInvalidated: Bool
    /// Process id of the consumer.
    public let consumer: Int64?
    /// Unix time in milliseconds.
    public let createdMilliseconds: Int64
    public let openChallenges: UInt64
    /// Unix time in milliseconds since when the consumer's process is seen to be stopped (SIGSTOP, debugger, freezer).
    public let consumerStoppedMilliseconds: Int64?
    /// Handles that wait with `Role.consumeWhenFree`.
    public let waitingConsumers: Int
    /// Of the application, as far as it concerns this session. `.none` also for one that only a newer library knows.
    public let launchState: LaunchState
    /// Unix time in milliseconds.
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
        launchState = LaunchState(rawValue: info.launch_state) ?? .none
        nextLaunchMilliseconds = info.next_launch_ms == 0 ? nil : info.next_launch_ms
    }
}

/// What a handle may do. Every role lists tasks.
public enum Role: Hashable, Sendable {
    /// Polls, acknowledges and completes; one handle at a time. It may do all that other roles may.
    case consume
    /// Enqueues, controls, claims, responds, configures, invalidates, sets activities.
    case produce
    /// Lists and watches.
    case observe
    /// `consume`, after waiting while another handle consumes. That handle is asked to yield. Cancelling the Swift task
    /// ends the wait.
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
