import Backhaul

/// The explanation of one task's state, for a user who has not read the documents.
struct Explanation {
    let task: TaskInfo
    let session: String
    /// The task's wait records, oldest first. A *wait record* has the reason, the start and the end of one wait.
    let waits: [Backhaul.Wait]
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
            reason: task.waitsFor, text: task.reasonText, nextCheck: task.nextAttempt,
            isRunning: task.state == .running, transfers: [task], count: 1, session: session, facts: facts,
            began: since, now: now, command: command)
    }

    var json: JSON {
        .object([
            ("task", task.json), ("began_ms", .number(since)),
            ("required_by", .optional(requiredBy)),
            ("conditions", .array(conditions.map { $0.json })), ("advice", .array(advice.map { $0.json })),
            ("waits", .array(waits.map { $0.json })),
        ])
    }

    private var isHeldUp: Bool { !task.hasEnded && task.reason != nil }

    /// The first line for a transfer that does not wait.
    private var headline: String {
        let name = TransferName(task: task).text
        guard task.hasEnded else {
            return name + (task.state == .running ? " is moving." : " is about to start.")
        }
        let time = task.endedMilliseconds.map { " at \(Text.dateAndTime($0, now: now))" } ?? ""
        switch task.state {
        case .succeeded: return name + " has succeeded\(time) and waits for nothing."
        case .cancelled: return name + " was cancelled\(time) and waits for nothing."
        default: return name + " has failed\(time) and waits for nothing."
        }
    }

    private var fields: [(String, String)] {
        var fields: [(String, String)] = []
        if let destination = task.destination { fields.append(("to", destination)) }
        if !task.hasEnded, task.bytesPerSecond > 0 { fields.append(("rate", Text.size(task.bytesPerSecond) + "/s")) }
        if task.hasEnded, let error = task.errorMessage { fields.append(("error", error)) }
        return fields
    }

    private var conditions: [Condition] {
        guard isHeldUp else { return [] }
        // If a condition cannot be read, no task waits for this condition.
        return WaitPhrases.conditions(task.waitsFor).compactMap { facts.condition($0) }.filter { $0.isKnown }
    }

    private var requiredBy: String? {
        guard isHeldUp else { return nil }
        if task.waitsFor == .heat, facts.isCriticallyHot { return "no option: it holds all transfers" }
        if task.waitsFor == .earliestStart { return "the transfer itself: --earliest-start" }
        let askers = [
            facts.origin(task.waitsFor).map { "session \(session): \($0.text)" },
            own.map { "the transfer itself: \($0.text)" },
        ]
        let text = askers.compactMap(\.self).joined(separator: "; ")
        return text.isEmpty ? nil : text
    }

    /// A phrase about the task's latest start: the time after which presets no longer delay the task. Nil if the task
    /// has no latest start in the future, or if no preset causes the wait.
    private var latest: String? {
        guard let latest = task.latestStartMilliseconds, latest > now, isFromPreset else { return nil }
        for case .option? in [facts.origin(task.waitsFor), own] { return nil }
        return "\(Text.timeWithCountdown(latest, now: now)): then presets no longer hold it"
    }

    /// The constraint that causes the wait, if the task itself has this constraint.
    private var own: Constraints.Origin? { task.constraints.origin(task.waitsFor, facts) }

    private var isFromPreset: Bool {
        [.power, .metered, .heat, .throughput, .quietHours]
            .contains(task.waitsFor)
    }

    private var advice: [Advice] { isHeldUp ? waitExplanation.advice : [] }

    /// The start of the present wait in Unix milliseconds. Nil if no wait record has this time.
    private var since: Int64? {
        guard isHeldUp else { return nil }
        return waits.last { $0.endedMilliseconds == nil && $0.code == task.waitsFor }?.beganMilliseconds
    }

    private var history: [String] {
        let periods = waits.map { Text.period($0.beganMilliseconds, $0.endedMilliseconds, now: now) }
        let columns = (periods.map { Text.width($0) }.max() ?? 0) + 2
        return zip(waits, periods).map { wait, period in
            let waited = max(0, (wait.endedMilliseconds ?? now) - wait.beganMilliseconds)
            let length = Text.approximate(milliseconds: waited)
            let verb =
                wait.code == .suspended ? "suspended " : wait.endedMilliseconds == nil ? "waits " : "waited "
            return "  " + Text.padded(period, columns: columns) + Text.padded(left: length, columns: 12) + "  " + verb
                + WaitPhrases.waits(wait.code)
        }
    }
}
