internal import CBackhaul

/// A session in the application's list.
public struct SessionInfo: Hashable, Sendable {
    public let identifier: String
    /// The number of the current or last round; 0 before the first enqueue.
    public let round: UInt64
    /// The number of tasks that have not ended.
    public let liveTasks: UInt64
    /// The number of events that are not acknowledged.
    public let events: UInt64
    /// Whether there are events that are not acknowledged.
    public let needsAttention: Bool
    /// Whether one of these events is `Event.sessionFinished`.
    public let hasFinished: Bool
    /// Whether a challenge is open.
    public let hasChallenge: Bool
    /// Whether another handle waits to consume the session. The consumer should finish, complete and close.
    public let asksToYield: Bool
    /// Whether one of the events is `Event.activity`.
    public let hasActivity: Bool
    /// Whether the session was invalidated (`Session.invalidate`).
    public let isInvalidated: Bool
    /// The process id of the consumer; nil if there is none.
    public let consumer: Int64?
    /// When the session was created, as Unix time in milliseconds.
    public let createdMilliseconds: Int64
    public let openChallenges: UInt64
    /// Since when the consumer's process is stopped (SIGSTOP, debugger, freezer), as Unix time in milliseconds.
    public let consumerStoppedMilliseconds: Int64?
    /// The number of handles that wait with `Role.consumeWhenFree`.
    public let waitingConsumers: Int
    /// The state of the application's launch for this session. A state that only a newer version of the library has is
    /// `.none`.
    public let launchState: LaunchState
    /// When the next launch is due, as Unix time in milliseconds; nil if none is due.
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
    /// Polls, acknowledges and completes; one handle at a time. It has the rights of all other roles.
    case consume
    /// Enqueues, controls, claims, responds, configures, invalidates, sets activities.
    case produce
    /// Lists and watches.
    case observe
    /// The rights of `consume`, after a wait until no other handle consumes the session. The other handle gets
    /// `SessionInfo.asksToYield`. Cancelling the Swift task ends the wait.
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
