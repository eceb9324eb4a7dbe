import CBackhaul

/// A copy of a session from a listing. A *session* is a named collection of tasks.
struct SessionRecord {
    let identifier: String
    let round: UInt64
    let liveTasks: UInt64
    let events: UInt64
    let attention: UInt32
    let isInvalidated: Bool
    /// The process id of the consumer, which reads the session's events. 0 if the session has no consumer.
    let consumer: Int64
    let created: Int64
    let openChallenges: UInt64
    /// When the engine first saw that the consumer is stopped (`SIGSTOP`), in Unix milliseconds. 0 if the consumer is
    /// not stopped.
    let consumerStopped: Int64
    let waitingConsumers: UInt32
    let launchState: Int32
    /// The time at which the registered program is started next, in Unix milliseconds, or 0.
    let nextLaunch: Int64

    init(_ session: bh_session_info) {
        identifier = text(session.identifier) ?? ""
        round = session.round
        liveTasks = session.live_tasks
        events = session.events
        attention = session.attention
        isInvalidated = session.is_invalidated
        consumer = session.consumer
        created = session.created_ms
        openChallenges = session.open_challenges
        consumerStopped = session.consumer_stopped_ms
        waitingConsumers = session.waiting_consumers
        launchState = session.launch_state
        nextLaunch = session.next_launch_ms
    }

    var json: JSON {
        .record(of: bh_session_info.self, [
            ("identifier", .string(identifier)), ("round", .number(round)), ("live_tasks", .number(liveTasks)),
            ("events", .number(events)), ("open_challenges", .number(openChallenges)),
            ("created_ms", .integer(created)), ("consumer", .number(unlessZero: consumer)),
            ("consumer_stopped_ms", .number(unlessZero: consumerStopped)),
            ("next_launch_ms", .number(unlessZero: nextLaunch)), ("attention", .strings(Names.attention(attention))),
            ("launch_state", .string(Names.launchState(launchState))),
            ("waiting_consumers", .number(waitingConsumers)), ("is_invalidated", .bool(isInvalidated)),
        ])
    }

    /// Remarks for the user about the session's state, such as "read by process 12; finished; program starts in 40 s".
    var remarks: String {
        var parts: [String] = []
        if consumer != 0 {
            var reader = "read by process \(consumer)"
            if consumerStopped != 0 { reader += ", stopped for \(Text.time(since: consumerStopped))" }
            if waitingConsumers > 0 { reader += ", \(waitingConsumers) waiting for it" }
            parts.append(reader)
        }
        let attentions = Names.attention(attention)
        if attentions.contains("finished") { parts.append("finished") }
        if openChallenges > 0 {
            parts.append(Text.count(Int(clamping: openChallenges), "open challenge"))
        }
        switch Int(launchState) {
        case BH_LAUNCH_DUE: parts.append("program starts " + Text.time(until: nextLaunch))
        case BH_LAUNCH_RUNNING: parts.append("program runs")
        case BH_LAUNCH_GAVE_UP: parts.append("program failed too often: `backhaul launches`")
        default: break
        }
        if isInvalidated { parts.append("ends") }
        return parts.isEmpty ? "-" : parts.joined(separator: "; ")
    }
}
