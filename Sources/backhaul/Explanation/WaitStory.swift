import CBackhaul

/// One wait of one transfer or of several, told in four parts: who waits for what, why, when it goes on, what to do.
struct WaitStory {
    static let shownTransfers = 5

    let reason: Int32
    /// The engine's sentence.
    let text: String?
    /// Unix time in milliseconds; 0: not known.
    let nextLook: Int64
    let isRunning: Bool
    /// The first of them.
    let transfers: [TaskRecord]
    let count: Int
    let session: String
    let facts: WaitFacts
    /// Unix time in milliseconds; nil: not kept.
    let began: Int64?
    let now: Int64
    /// A command of this program on the same session and store, as it can be typed.
    let command: ([String]) -> String

    var one: TaskRecord? { count == 1 ? transfers.first : nil }

    /// Numbers as commands take them, or the word for them when they are many.
    var operands: [String] { count <= transfers.count ? transfers.map { String($0.id) } : ["TASK..."] }

    /// `duration`: how long it has lasted is told, too.
    func headline(duration: Bool = false) -> String {
        let subject = one.map { TransferName(task: $0).text } ?? Text.count(count, "transfer")
        if let limit = facts.demands.limitOfNothing(reason, facts, session: session) {
            return "\(subject) \(be) stuck: \(limit), so nothing may be moved."
        }
        var words = WaitWords.waits(reason)
        if one == nil {
            words = words.replacing("until it is", with: "until they are").replacing("for its ", with: "for their ")
        }
        var verb = one == nil ? "wait" : "waits"
        if Int(reason) == BH_REASON_SUSPENDED { verb = be + " suspended" }
        if isStuck { verb = be + " stuck, and \(verb)" }
        let length = began.map { duration ? " (\(Text.roughly(seconds: max(0, now - $0) / 1000)))" : "" } ?? ""
        return "\(subject) \(verb) \(words)"
            + (began.map { " since \(Text.moment($0, now: now))" } ?? "") + length + "."
    }

    private var be: String { one == nil ? "are" : "is" }

    /// Nothing that happens by itself ends it.
    var isStuck: Bool {
        switch Int(reason) {
        case BH_REASON_BUDGET, BH_REASON_QUIET_HOURS: nextLook == 0
        // Only the sentence tells that session and transfer exclude each other.
        case BH_REASON_NETWORK: text?.contains("never runs") ?? false
        default: false
        }
    }

    var why: String? {
        switch Int(reason) {
        case BH_REASON_SUSPENDED: nil
        case BH_REASON_RETRY: one.map(failure) ?? text
        case BH_REASON_CREDENTIAL:
            facts.challenges.count == 1 ? facts.challenges.first.map { $0.demand } : text
        case BH_REASON_BUDGET:
            facts.demands.limitOfNothing(reason, facts, session: session) == nil ? text : nil
        default: text
        }
    }

    private func failure(_ task: TaskRecord) -> String {
        let error = task.errorMessage ?? task.reasonText ?? "the last try failed"
        guard let last = facts.lastTries[task.id] else { return error }
        let took = (last.responseEnd ?? last.responseStart ?? 0) / 1000
        let time = Text.moment(last.started.addingReportingOverflow(took).partialValue, now: now)
        return "try \(last.number) failed at \(time): \(last.error.sentence ?? error)" + meaning(of: last.httpStatus)
    }

    /// RFC 9110, section 15, and RFC 6585, in the words of people.
    private func meaning(of status: Int32) -> String {
        switch status {
        case 429: " (too many requests)"
        case 503: " (it is overloaded or being maintained)"
        case 500...599: " (something is wrong on its side)"
        default: ""
        }
    }

    var goesOn: String {
        if isStuck { return "not by itself: waiting does not help" }
        let words = WaitWords.goesOn(reason, isRunning: isRunning) + again
        guard nextLook > 0 else { return words }
        let time = "by itself " + Text.appointment(nextLook, now: now)
        switch Int(reason) {
        case BH_REASON_RETRY: return time + next
        case BH_REASON_EARLIEST_START: return time + ", or a little later"
        case BH_REASON_BUDGET: return time + ", or sooner on another network"
        case BH_REASON_QUIET_HOURS: return time
        case BH_REASON_POWER, BH_REASON_BATTERY, BH_REASON_HEAT, BH_REASON_PRESSURE, BH_REASON_METERED:
            return time + ", if it stays so"
        case BH_REASON_DISK_FULL: return time + ", if there is room then"
        case BH_REASON_THROUGHPUT, BH_REASON_PORTAL, BH_REASON_CONNECTIVITY:
            return words + "; it looks again " + Text.appointment(nextLook, now: now)
        default: return words
        }
    }

    /// From where a transfer is tried again whose server says nothing.
    private var again: String {
        guard Int(reason) == BH_REASON_STALLED else { return "" }
        guard let one else { return "" }
        return one.done > 0 && !one.isUpload
            ? ", from where it is if the server can do that" : ", from its beginning"
    }

    private var next: String {
        guard let one else { return ", with the first of them" }
        let number = facts.lastTries[one.id].map { ", with try \(UInt64($0.number) + 1)" } ?? ""
        return number + (TransferName(task: one).kept.map { "; \($0) is kept" } ?? "; nothing has come so far")
    }

    var advice: [Advice] { AdviceTable(story: self).advice }

    /// `before`, `after`: names and values around the why and the when.
    func lines(duration: Bool = false, before: [(String, String)] = [], after: [(String, String)] = []) -> [String] {
        var fields = before
        if let why, !why.isEmpty { fields.append(("why", why)) }
        fields.append(("goes on", goesOn))
        var lines = [headline(duration: duration)] + WaitStory.fields(fields + after)
        if one == nil {
            lines += transfers.prefix(WaitStory.shownTransfers).map { "  - " + item($0) }
            let rest = count - min(count, WaitStory.shownTransfers)
            if rest > 0 { lines += ["  - and \(rest) more:", "      " + command(["tasks"])] }
        }
        let advice = advice
        if !advice.isEmpty { lines += ["", "What you can do:"] + WaitStory.list(advice) }
        return lines
    }

    /// Each failed try may have an error of its own.
    private func item(_ task: TaskRecord) -> String {
        let error = Int(reason) == BH_REASON_RETRY ? task.errorMessage.map { " - " + Text.visible($0) } : nil
        return TransferName(task: task).item + (error ?? "")
    }

    static func fields(_ fields: [(String, String)]) -> [String] {
        fields.map { name, value in
            "  " + Text.padded(name + ":", columns: 10)
                + Text.wrapped(Text.visible(value), columns: 80, indentation: 12)
        }
    }

    private static func list(_ advice: [Advice]) -> [String] {
        advice.flatMap { item in
            ["  - " + Text.wrapped(item.text, columns: 80, indentation: 4)]
                + (item.command.map { ["      " + $0] } ?? [])
        }
    }
}
