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
    /// After `Session.invalidate`.
    public let isInvalidating: Bool
    /// Process id of the consumer.
    public let consumer: Int64?
    /// Unix time in milliseconds.
    public let createdMilliseconds: Int64

    init(_ info: bh_session_info) {
        identifier = text(info.identifier) ?? ""
        round = info.round
        liveTasks = info.live_tasks
        events = info.events
        needsAttention = Int(info.attention) & BH_ATTENTION_EVENTS != 0
        hasFinished = Int(info.attention) & BH_ATTENTION_FINISHED != 0
        isInvalidating = info.invalidating != 0
        consumer = info.consumer == 0 ? nil : info.consumer
        createdMilliseconds = info.created_ms
    }
}

/// What a session's handle may do. Reading tasks is open to all.
public enum Role: Hashable, Sendable {
    /// Receives the events: one at a time. May also do all that the others may.
    case consume
    /// Enqueues, controls and cancels tasks.
    case produce
    /// Lists and watches only.
    case observe

    var rawValue: Int32 {
        switch self {
        case .consume: Int32(BH_ROLE_CONSUME)
        case .produce: Int32(BH_ROLE_PRODUCE)
        case .observe: Int32(BH_ROLE_OBSERVE)
        }
    }
}
