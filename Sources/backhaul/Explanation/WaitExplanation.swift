import Backhaul

/// The explanation of a wait that one or more transfers share. It has four parts: what the transfers wait for, the
/// cause, when the transfers continue, and what the user can do.
struct WaitExplanation {
    static let listedTransferLimit = 5

    let reason: Reason?
    /// The sentence with which the engine explains the reason.
    let text: String?
    /// The time of the next check or of the next attempt, in Unix milliseconds. Nil if this time is not known.
    let nextCheck: Int64?
    let isRunning: Bool
    /// The waiting transfers, or the first few of them. `count` is the number of all waiting transfers.
    let transfers: [TaskInfo]
    let count: Int
    let session: String
    let facts: WaitFacts
    /// The start of the wait in Unix milliseconds. Nil if the start is not known.
    let began: Int64?
    let now: Int64
    /// Makes a command for the same session and store, ready to be typed.
    let command: ([String]) -> String

    var one: TaskInfo? { count == 1 ? transfers.first : nil }

    /// The numbers of the transfers as operands of a command. If `transfers` has only the first few transfers, the only
    /// operand is "TASK...".
    var operands: [String] { count <= transfers.count ? transfers.map { "\($0.id)" } : ["TASK..."] }

    /// The first line. `duration`: whether the line states how long the wait has lasted.
    func headline(duration: Bool = false) -> String {
        let subject = one.map { TransferName(task: $0).text } ?? Text.count(count, "transfer")
        if let limit = facts.requirements.zeroBudgetSentence(reason, facts, session: session) {
            return "\(subject) \(be) stuck: \(limit), so nothing may be moved."
        }
        var words = WaitPhrases.waits(reason)
        if one == nil {
            words = words.replacing("until it is", with: "until they are").replacing("for its ", with: "for their ")
        }
        var verb = one == nil ? "wait" : "waits"
        if reason == .suspended { verb = be + " suspended" }
        if isStuck { verb = be + " stuck, and \(verb)" }
        let length = began.map { duration ? " (\(Text.approximate(milliseconds: now - $0)))" : "" } ?? ""
        return "\(subject) \(verb) \(words)"
            + (began.map { " since \(Text.dateAndTime($0, now: now))" } ?? "") + length + "."
    }

    private var be: String { one == nil ? "are" : "is" }

    /// Whether the wait continues until the user changes a setting.
    var isStuck: Bool {
        switch reason {
        case .budget, .quietHours: nextCheck == nil
        // Only the engine's sentence shows that the permitted networks of the session and of the transfer exclude each
        // other.
        case .network: text?.contains("never runs") ?? false
        default: false
        }
    }

    var why: String? {
        switch reason {
        case .suspended: nil
        case .retry: one.map(failure) ?? text
        case .diskFull: one?.errorMessage ?? text
        case .origin: one.flatMap { $0.errorMessage == nil ? nil : failure($0) } ?? text
        case .credential:
            facts.challenges.count == 1 ? facts.challenges.first.map { $0.requestSentence } : text
        case .budget:
            facts.requirements.zeroBudgetSentence(reason, facts, session: session) == nil ? text : nil
        default: text
        }
    }

    private func failure(_ task: TaskInfo) -> String {
        let error = task.errorMessage ?? task.reasonText ?? "the last attempt failed"
        guard let last = facts.lastAttempts[task.id] else { return error }
        let took = (last.responseEnd ?? last.responseStart ?? .zero).microseconds / 1000
        let time = Text.dateAndTime(last.startedMilliseconds.addingReportingOverflow(took).partialValue, now: now)
        return "attempt \(last.number) failed at \(time): \(last.errorMessage ?? error)"
            + meaning(of: last.httpStatus)
    }

    /// The meaning of an HTTP status (RFC 9110, section 15, and RFC 6585) in everyday words.
    private func meaning(of status: Int?) -> String {
        switch status {
        case 429: " (too many requests)"
        case 503: " (the server is overloaded or in maintenance)"
        case .some(500...599): " (an error of the server)"
        default: ""
        }
    }

    var continuation: String {
        if isStuck { return "not by itself: waiting does not help" }
        let words = WaitPhrases.continuation(reason, isRunning: isRunning) + again
        guard let nextCheck else { return words }
        let time = "by itself " + Text.timeWithCountdown(nextCheck, now: now)
        switch reason {
        case .retry: return time + next
        case .earliestStart: return time + ", or a little later"
        case .budget: return time + ", or sooner on another network"
        case .origin: return time + ", at first with one transfer"
        case .quietHours: return time
        case .power, .battery, .heat, .pressure, .metered:
            return time + ", if it stays so"
        case .storage: return words + "; next check " + Text.timeWithCountdown(nextCheck, now: now)
        case .diskFull: return time + ", if there is room then"
        case .throughput, .portal, .connectivity:
            return words + "; next check " + Text.timeWithCountdown(nextCheck, now: now)
        default: return words
        }
    }

    /// For a stalled transfer: a phrase that says from which byte the next attempt continues.
    private var again: String {
        guard reason == .stalled else { return "" }
        guard let one else { return "" }
        return one.done > 0 && !one.isUpload
            ? ", from where it is if the server can do that" : ", from its beginning"
    }

    private var next: String {
        guard let one else { return ", with the first of them" }
        let number = facts.lastAttempts[one.id].map { ", with attempt \($0.number + 1)" } ?? ""
        return number + "; " + (TransferName(task: one).kept.map { "\($0) is kept" } ?? lost(one))
    }

    /// The phrase for a transfer of which no byte is kept. If the last attempt has received a part of the file,
    /// this part was removed, because the server sent nothing by which a later attempt could continue it.
    private func lost(_ one: TaskInfo) -> String {
        guard !one.isUpload, let last = facts.lastAttempts[one.id], last.responseBodyBytes > 0,
            (200...299).contains(last.httpStatus ?? 0)
        else { return "no byte is kept so far" }
        return "the \(Text.size(last.responseBodyBytes)) of the last attempt could not be kept"
    }

    var advice: [Advice] { AdviceTable(waitExplanation: self).advice }

    /// The lines of the explanation. `before` has the fields before "why"; `after` has the fields after "continues".
    func lines(duration: Bool = false, before: [(String, String)] = [], after: [(String, String)] = []) -> [String] {
        var fields = before
        if let why, !why.isEmpty { fields.append(("why", why)) }
        fields.append(("continues", continuation))
        var lines = [headline(duration: duration)] + WaitExplanation.fields(fields + after)
        if one == nil {
            lines += transfers.prefix(WaitExplanation.listedTransferLimit).map { "  - " + item($0) }
            let rest = count - min(count, WaitExplanation.listedTransferLimit)
            if rest > 0 { lines += ["  - and \(rest) more:", "      " + command(["tasks"])] }
        }
        let advice = advice
        if !advice.isEmpty { lines += ["", "What you can do:"] + WaitExplanation.list(advice) }
        return lines
    }

    /// The line of one transfer. If the transfer waits for a retry, the line includes the error.
    private func item(_ task: TaskInfo) -> String {
        let error = reason == .retry ? task.errorMessage.map { " - " + Text.visible($0) } : nil
        return TransferName(task: task).item + (error ?? "")
    }

    static func fields(_ fields: [(String, String)]) -> [String] {
        fields.map { name, value in
            "  " + Text.padded(name + ":", columns: 11)
                + Text.wrapped(Text.visible(value), columns: 80, indentation: 13)
        }
    }

    private static func list(_ advice: [Advice]) -> [String] {
        advice.flatMap { item in
            ["  - " + Text.wrapped(item.text, columns: 80, indentation: 4)]
                + (item.command.map { ["      " + $0] } ?? [])
        }
    }
}
