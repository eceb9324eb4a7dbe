import Backhaul
import struct BackhaulModel.ShownURL

/// The data of a report, which becomes a part of its page. It has no queries of URLs, no headers, no credentials and no
/// directories of files, because reports are given to others.
struct ReportData {
    /// The most rows of attempts, if there are few tasks. With more rows, the report has fewer attempts of each task:
    /// the first one and the newest ones, or only the newest one.
    private static let mostAttempts = 120_000
    /// If there are more messages of errors, the report has only the kinds of the later errors.
    private static let mostErrors = 1000
    private static let longestMessage = 300
    /// The bytes for the paths of all URLs together. Longer paths are shortened, but not below `shortestPath`.
    private static let bytesOfPaths = 2_500_000
    private static let shortestPath = 50
    private static let longestPath = 2000
    private static let mostPeriods = 200_000

    let madeMilliseconds: Int64
    private let title: String
    private var sessions = ReportWords()
    private var origins = ReportWords()
    private var groups = ReportWords()
    private var protocols = ReportWords()
    private var reasons = ReportWords()
    private var errors = ReportWords()
    private var files = ReportWords()
    private var tasks: [ReportTask] = []
    /// The attempts of each task, one task after the other.
    private var attempts = ReportTable(ReportAttempt.columns)
    private var attemptCounts: [Int] = []
    private var waits = ReportTable(ReportWait.columns)
    private var periods: [ReportPeriod] = []

    init(title: String, madeMilliseconds: Int64) {
        self.title = Text.visible(title)
        self.madeMilliseconds = madeMilliseconds
    }

    /// Adds a task with its attempts and waits.
    mutating func add(_ info: TaskInfo, session: String, _ attempts: [Attempt], _ waits: [Backhaul.Wait]) {
        var task = ReportTask(
            info: info, origin: origins.position(of: ReportText.origin(info.url)),
            session: sessions.position(of: Text.visible(session)),
            error: position(of: info.error.map { $0.spoken }, info.httpStatus),
            reason: info.hasEnded ? -1 : info.reason.map { reasons.position(of: $0.code.word) } ?? -1,
            group: info.group.map { groups.position(of: Text.visible($0)) } ?? -1,
            file: ReportText.file(info).map { files.position(of: $0) } ?? -1)
        for attempt in attempts { self.attempts.append(row(attempt, of: info)) }
        attemptCounts.append(attempts.count)
        task.waitRows = add(waits, of: info)
        tasks.append(task)
    }

    private mutating func row(_ attempt: Attempt, of task: TaskInfo) -> ReportAttempt {
        ReportAttempt(
            attempt: attempt, enqueued: task.enqueuedMilliseconds,
            origin: origins.position(of: ReportText.origin(attempt.url)),
            error: position(of: attempt.error.map { $0.spoken }, attempt.httpStatus),
            networkProtocol: attempt.networkProtocol.map { protocols.position(of: Text.visible($0)) } ?? -1)
    }

    /// Adds the waits of a task, and returns the number of their rows.
    private mutating func add(_ waits: [Backhaul.Wait], of task: TaskInfo) -> Int64 {
        var sums: [ReportWait] = []
        for wait in waits {
            let reason = reasons.position(of: wait.code.word)
            let began = wait.beganMilliseconds
            let ended = max(began, wait.endedMilliseconds ?? task.endedMilliseconds ?? madeMilliseconds)
            periods.append(ReportPeriod(reason: reason, began: began, ended: ended))
            if let known = sums.firstIndex(where: { $0.reason == reason }) {
                sums[known].ended = ended - task.enqueuedMilliseconds
                sums[known].duration += ended - began
                sums[known].count += 1
            } else {
                sums.append(
                    ReportWait(
                        reason: reason, began: began - task.enqueuedMilliseconds,
                        ended: ended - task.enqueuedMilliseconds, duration: ended - began, count: 1))
            }
        }
        if periods.count > ReportData.mostPeriods { joinPeriods() }
        for sum in sums { self.waits.append(sum) }
        return Int64(sums.count)
    }

    /// The position of the error's kind and message. -1 if there is no error.
    private mutating func position(of error: BackhaulError?, _ httpStatus: Int?) -> Int64 {
        guard let error else { return -1 }
        func text(_ message: String) -> String {
            let members: [JSON] = [.string(error.status.name), .number(httpStatus), .string(message)]
            return JSON.array(members).text
        }
        let whole = text(ReportText.shortened(ReportText.message(error.message), ReportData.longestMessage))
        let isKept = errors.knows(whole) || errors.count < ReportData.mostErrors
        return errors.position(of: isKept ? whole : text(""))
    }

    /// The data as JSON that can be the content of an HTML element `script`.
    var json: String {
        let base = tasks.map(\.info.enqueuedMilliseconds).min() ?? madeMilliseconds
        var taskTable = ReportTable(ReportTask.columns(base: base))
        let most = mostAttemptsOfTask
        var kept: [Int] = []
        var first = 0
        for (task, count) in zip(tasks, attemptCounts) {
            let rows = keptAttempts(of: count, most: most)
            kept += rows.map { first + $0 }
            first += count
            var task = task
            task.attemptRows = Int64(rows.count)
            taskTable.append(task)
        }
        var periodTable = ReportTable(ReportPeriod.columns(base: base))
        for period in joinedPeriods { periodTable.append(period) }
        var result = "{\"made_ms\":\(madeMilliseconds),\"base_ms\":\(base),\"title\":" + JSON.string(title).text
        result += ",\"attempts_left_out\":\(attempts.count - kept.count)"
        for (name, words) in [
            ("sessions", sessions), ("origins", origins), ("groups", groups), ("protocols", protocols),
            ("reasons", reasons), ("files", files),
        ] {
            result += ",\"\(name)\":" + JSON.strings(words.all).text
        }
        result += ",\"errors\":[" + errors.all.joined(separator: ",") + "],\"tasks\":{"
        taskTable.write(to: &result)
        result += ",\"path\":" + JSON.strings(tasks.map { path($0.info) }).text
        result += "},\"attempts\":{"
        attempts.write(kept, to: &result)
        result += "},\"waits\":{"
        waits.write(to: &result)
        result += "},\"periods\":{"
        periodTable.write(to: &result)
        result += "}}"
        return ReportText.escaped(result)
    }

    /// The positions of the attempts that the report has of a task with `count` attempts.
    private func keptAttempts(of count: Int, most: Int) -> [Int] {
        if count <= most { return Array(0..<count) }
        return most == 1 ? [count - 1] : [0] + ((count - most + 1)..<count)
    }

    /// How many attempts of each task the report has.
    private var mostAttemptsOfTask: Int {
        // A task takes about as many bytes as an attempt.
        let limit = ReportData.mostAttempts - tasks.count * 6 / 5
        return [100, 20, 5, 3, 2].first { most in attemptCounts.reduce(0) { $0 + min($1, most) } <= limit } ?? 1
    }

    /// Joins periods until few are left, because a store may have millions of waits.
    private mutating func joinPeriods() {
        var gap: Int64 = 1000
        repeat {
            periods = ReportPeriod.joined(periods, gap: gap)
            gap *= 10
        } while periods.count > ReportData.mostPeriods / 2
    }

    private var joinedPeriods: [ReportPeriod] {
        let joined = ReportPeriod.joined(periods, gap: 0)
        guard let first = joined.map(\.began).min(), let last = joined.map(\.ended).max(), joined.count > 500 else {
            return joined
        }
        return ReportPeriod.joined(joined, gap: (last - first) / 500)
    }

    private func path(_ task: TaskInfo) -> String {
        let limit = max(
            ReportData.shortestPath, min(ReportData.longestPath, ReportData.bytesOfPaths / max(1, tasks.count)))
        return ReportText.shortened(ReportText.path(task.url), limit)
    }
}

/// Texts of a report. Control characters are shown as such, because some of them change the order of the text around
/// them.
enum ReportText {
    /// The scheme, the name and the port of a URL.
    static func origin(_ url: String) -> String {
        let shown = ShownURL(url)
        return Text.visible(shown.start + shown.rest.prefix { !"/?#".contains($0) })
    }

    /// What follows the origin. In place of a query there is a mark.
    static func path(_ url: String) -> String {
        let shown = ShownURL(url)
        let origin = shown.start.utf8.count + shown.rest.prefix { !"/?#".contains($0) }.utf8.count
        return Text.visible(String(decoding: shown.shortened.utf8.dropFirst(origin), as: UTF8.self))
    }

    private static let longestFile = 60

    /// The name of the local file, if the URL does not show it.
    static func file(_ task: TaskInfo) -> String? {
        guard !task.isUpload, task.destination != nil else { return nil }
        let name = TransferName.file(of: task)
        return name == TransferName.file(of: task.url) ? nil : shortened(Text.visible(name), longestFile)
    }

    /// The message without queries of URLs.
    static func message(_ text: String) -> String { Text.visible(ShownURL.withoutQueries(text)) }

    /// The text with at most `limit` bytes of UTF-8. The middle is left out, because paths differ at their ends.
    static func shortened(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let half = (limit - 3) / 2
        return String(decoding: text.utf8.prefix(half), as: UTF8.self).trimmed + "…"
            + String(decoding: text.utf8.suffix(half), as: UTF8.self).trimmed
    }

    /// JSON in which no text can end the element `script` or begin a comment. In JSON, only strings have this sign.
    static func escaped(_ json: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.utf8.count)
        for byte in json.utf8 {
            if byte == UInt8(ascii: "<") { bytes += "\\u003c".utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The text without the marks of characters that a cut has divided.
    fileprivate var trimmed: String { replacing("\u{fffd}", with: "") }
}
