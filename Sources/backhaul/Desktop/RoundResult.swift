import Backhaul

/// How the transfers of one or more rounds have ended.
struct RoundResult {
    private(set) var downloads = 0
    private(set) var uploads = 0
    private(set) var failures = 0
    /// The file and the server of the last transfer that succeeded or failed.
    private(set) var place = ""
    /// The path of the last downloaded file.
    private(set) var path: String?
    private var failedPlace = ""

    /// Whether there is something to report. The user knows of the transfers that the user has cancelled.
    var isEmpty: Bool { downloads + uploads + failures == 0 }

    mutating func add(_ task: TaskInfo) {
        switch task.state {
        case .succeeded where task.isUpload: uploads += 1
        case .succeeded:
            downloads += 1
            path = task.path ?? path
        case .failed:
            failures += 1
            failedPlace = TransferName(task: task).place
        default: return
        }
        place = TransferName(task: task).place
    }

    mutating func add(_ other: RoundResult) {
        downloads += other.downloads
        uploads += other.uploads
        failures += other.failures
        if !other.isEmpty { place = other.place }
        if other.failures > 0 { failedPlace = other.failedPlace }
        path = other.path ?? path
    }

    /// The counts, such as "12 files downloaded, 1 transfer failed".
    var counts: String {
        var parts: [String] = []
        if downloads > 0 { parts.append(Text.count(downloads, "file") + " downloaded") }
        if uploads > 0 { parts.append(Text.count(uploads, "file") + " uploaded") }
        if failures > 0 { parts.append(Text.count(failures, "transfer") + " failed") }
        return parts.joined(separator: ", ")
    }

    /// The only file, or the one that failed last.
    var details: [String] {
        if downloads + uploads + failures == 1 { return [place] }
        return failures > 0 ? ["Failed" + (failures > 1 ? " last: " : ": ") + failedPlace] : []
    }
}

/// Finds the rounds of a session that have ended since the last reading.
struct EndedRounds {
    /// The last round that was reported, or that ended before the command started. Nil before the first reading.
    private var last: UInt64?
    /// All transfers of later rounds have higher numbers, except transfers that were resumed.
    private var after: UInt64 = 0

    /// Returns the result of the rounds that have ended. Nil if none has.
    /// - Parameter start: When the command started, in Unix milliseconds.
    mutating func result(_ session: FollowedSession, since start: Int64) throws(CommandError) -> RoundResult? {
        guard let info = session.info else { return nil }
        let lowest = session.rows.rows.first { !$0.task.hasEnded }?.key.id.rawValue
        if let lowest { after = min(after, lowest - 1) }
        let ended = info.liveTasks == 0 ? info.round : max(info.round, 1) - 1
        // A session that is new to the command and has no live transfer may have ended a round since the start.
        let first = last.map { $0 + 1 } ?? (info.liveTasks == 0 ? ended : ended + 1)
        let isFirst = last == nil
        defer { last = ended }
        guard first <= ended, ended > 0 else { return nil }
        var result = RoundResult()
        var counted: Set<TaskID> = []
        var highest = after
        func add(_ tasks: [TaskInfo]) {
            for task in tasks {
                // A later round may have begun during the reading.
                guard task.round <= ended else { continue }
                highest = max(highest, task.id.rawValue)
                guard (first...ended).contains(task.round), task.hasEnded, counted.insert(task.id).inserted,
                    !isFirst || (task.endedMilliseconds ?? 0) >= start
                else { continue }
                result.add(task)
            }
        }
        // A transfer moves from the list to the history, so the list is read first.
        let cursor = TaskID(rawValue: after)
        try session.handle.forEachPage(.all, after: cursor) {
            add($0); return true
        }
        try session.handle.forEachPageOfHistory(after: cursor) { add($0) }
        after = highest
        return result.isEmpty ? nil : result
    }
}
