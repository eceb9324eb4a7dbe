import Backhaul

extension SessionInfo {
    private var attention: [String] {
        [
            ("events", needsAttention), ("finished", hasFinished), ("challenge", hasChallenge),
            ("yield", asksToYield), ("activity", hasActivity),
        ].filter(\.1).map(\.0)
    }

    func json(application: String) -> JSON {
        .record(
            "bh_session_info",
            [
                ("application", .string(application)),
                ("identifier", .string(identifier)), ("round", .number(round)), ("live_tasks", .number(liveTasks)),
                ("events", .number(events)), ("open_challenges", .number(openChallenges)),
                ("created_ms", .number(createdMilliseconds)), ("consumer", .number(consumer)),
                ("consumer_stopped_ms", .number(consumerStoppedMilliseconds)),
                ("next_launch_ms", .number(nextLaunchMilliseconds)), ("attention", .strings(attention)),
                ("launch_state", .word(launchState)), ("waiting_consumers", .number(waitingConsumers)),
                ("is_invalidated", .bool(isInvalidated)),
            ])
    }

    /// Remarks for the user about the session's state, such as "read by process 12; finished; program starts in 40 s".
    var remarks: String {
        var parts: [String] = []
        if let consumer {
            var reader = "read by process \(consumer)"
            if let time = consumerStoppedMilliseconds { reader += ", stopped for \(Text.time(since: time))" }
            if waitingConsumers > 0 { reader += ", \(waitingConsumers) waiting for it" }
            parts.append(reader)
        }
        if hasFinished { parts.append("finished") }
        if openChallenges > 0 {
            parts.append(Text.count(Int(clamping: openChallenges), "open challenge"))
        }
        switch launchState {
        case .due: parts.append("program starts " + Text.time(until: nextLaunchMilliseconds ?? 0))
        case .running: parts.append("program runs")
        case .gaveUp: parts.append("program failed too often: `backhaul launches`")
        case .notNeeded: break
        }
        if isInvalidated { parts.append("ends") }
        return parts.isEmpty ? "-" : parts.joined(separator: "; ")
    }
}
