import CBackhaul

/// The explanation of one task's state, for a user who has not read the documents.
struct Explanation {
    let task: TaskRecord
    let session: String
    /// The task's wait records, oldest first. A *wait record* has the reason, the start and the end of one wait.
    let waits: [WaitRecord]
    let facts: WaitFacts
    /// The present time in Unix milliseconds.
    let now: Int64
    /// Makes a command for the same session and store, ready to be typed.
    let command: ([String]) -> String

    var lines: [String] {
        var lines: [String]
        if isHeldUp {
            lines = waitExplanation.lines(
                duration: true, before: task.destination.map { [("to", $0)] } ?? [],
                after: latest.map { [("latest", $0)] } ?? [])
        } else {
            lines = [headline, ""] + WaitExplanation.fields(fields)
        }
        if !waits.isEmpty { lines += ["", task.hasEnded ? "It has waited:" : "Its waits so far:"] + history }
        return lines + [""]
    }

    private var waitExplanation: WaitExplanation {
        WaitExplanation(
            reason: task.reason, text: task.reasonText, nextCheck: task.nextAttempt,
            isRunning: Int(task.state) == BH_TASK_RUNNING, transfers: [task], count: 1, session: session, facts: facts,
            began: since, now: now, command: command)
    }

    var json: JSON {
        .object([
            ("task", task.json), ("began_ms", since.map { .integer($0) } ?? .null),
            ("required_by", .optional(requiredBy)),
            ("conditions", .array(conditions.map { $0.json })), ("advice", .array(advice.map { $0.json })),
            ("waits", .array(waits.map { $0.json })),
        ])
    }

    private var isHeldUp: Bool { !task.hasEnded && Int(task.reason) != BH_REASON_NONE }

    /// The first line for a transfer that does not wait.
    private var headline: String {
        let name = TransferName(task: task).text
        guard task.hasEnded else {
            return name + (Int(task.state) == BH_TASK_RUNNING ? " is moving." : " is about to start.")
        }
        let time = task.ended > 0 ? " at \(Text.dateAndTime(task.ended, now: now))" : ""
        switch Int(task.state) {
        case BH_TASK_SUCCEEDED: return name + " has succeeded\(time) and waits for nothing."
        case BH_TASK_CANCELLED: return name + " was cancelled\(time) and waits for nothing."
        default: return name + " has failed\(time) and waits for nothing."
        }
    }

    private var fields: [(String, String)] {
        var fields: [(String, String)] = []
        if let destination = task.destination { fields.append(("to", destination)) }
        if !task.hasEnded, task.rate > 0 { fields.append(("rate", Text.size(task.rate) + "/s")) }
        if task.hasEnded, let error = task.errorMessage { fields.append(("error", error)) }
        return fields
    }

    private var conditions: [ConditionRecord] {
        guard isHeldUp else { return [] }
        // If a condition (a fact about the system) cannot be read, no task waits for this condition.
        return WaitPhrases.conditions(task.reason).compactMap { facts.condition($0) }.filter { $0.isKnown }
    }

    private var requiredBy: String? {
        guard isHeldUp else { return nil }
        if Int(task.reason) == BH_REASON_HEAT, facts.isCriticallyHot { return "no option: it holds all transfers" }
        if Int(task.reason) == BH_REASON_EARLIEST_START { return "the transfer itself: --earliest-start" }
        let askers = [
            facts.origin(task.reason).map { "session \(session): \($0.text)" },
            own.map { "the transfer itself: \($0.text)" },
        ]
        let text = askers.compactMap(\.self).joined(separator: "; ")
        return text.isEmpty ? nil : text
    }

    /// A phrase about the task's latest start: the time after which presets (names for several demands on the system)
    /// no longer delay the task. Nil if the task has no latest start in the future, or if no preset causes the wait.
    private var latest: String? {
        guard task.latestStart > now, isFromPreset else { return nil }
        for case .option? in [facts.origin(task.reason), own] { return nil }
        return "\(Text.timeWithCountdown(task.latestStart, now: now)): then presets no longer hold it"
    }

    /// The constraint (demand on the system) that causes the wait, if the task itself has this constraint.
    private var own: ConstraintsRecord.Origin? { task.constraints?.origin(task.reason, facts) }

    private var isFromPreset: Bool {
        [BH_REASON_POWER, BH_REASON_METERED, BH_REASON_HEAT, BH_REASON_THROUGHPUT, BH_REASON_QUIET_HOURS]
            .contains(Int(task.reason))
    }

    private var advice: [Advice] { isHeldUp ? waitExplanation.advice : [] }

    /// The start of the present wait in Unix milliseconds. Nil if no wait record has this time.
    private var since: Int64? {
        guard isHeldUp else { return nil }
        return waits.last { $0.ended == nil && $0.reason == task.reason }?.began
    }

    private var history: [String] {
        let periods = waits.map { Text.period($0.began, $0.ended, now: now) }
        let columns = (periods.map { Text.width($0) }.max() ?? 0) + 2
        return zip(waits, periods).map { wait, period in
            let length = Text.approximate(seconds: max(0, (wait.ended ?? now) - wait.began) / 1000)
            let verb = Int(wait.reason) == BH_REASON_SUSPENDED ? "suspended " : wait.ended == nil ? "waits " : "waited "
            return "  " + Text.padded(period, columns: columns) + Text.padded(left: length, columns: 12) + "  " + verb
                + WaitPhrases.waits(wait.reason)
        }
    }
}
