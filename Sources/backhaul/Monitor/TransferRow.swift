import Backhaul

/// A session of an application. Two applications may have sessions with the same name.
struct SessionKey: Hashable, Comparable {
    let application: String
    let name: String

    static func < (left: SessionKey, right: SessionKey) -> Bool {
        (left.application, left.name) < (right.application, right.name)
    }
}

/// The transfer of a row. Two sessions may have transfers with the same number.
struct RowKey: Hashable {
    let session: SessionKey
    let id: TaskID
}

/// A transfer of the live screen, as the last listing had it. It is a class, because the rows are sorted and filtered
/// often, and a task has many fields.
final class TransferRow: Sendable {
    let key: RowKey
    let task: TaskInfo
    let name: String

    init(_ task: TaskInfo, session: SessionKey) {
        key = RowKey(session: session, id: task.id)
        self.task = task
        name = TransferName.file(of: task)
    }

    /// The share of the bytes that were moved, from 0 to 1. Nil if the size is not known.
    var share: Double? {
        if task.state == .succeeded { return 1 }
        guard let total = task.total else { return nil }
        return total == 0 ? 0 : Double(min(task.done, total)) / Double(total)
    }

    /// The bytes that are left. Nil if the size is not known.
    var left: UInt64? {
        if task.hasEnded { return 0 }
        return task.total.map { $0 - min(task.done, $0) }
    }

    /// Whether the transfer moves bytes. A transfer below a rate limit does, although it waits between them.
    var isMoving: Bool { task.state == .running && (task.reason == nil || task.waitsFor == .rate) }

    /// The place of the state in the order of the screen: what runs, what has a fault, what has failed, what waits for
    /// a condition, what waits for a slot, and the rest.
    var rank: Int {
        switch task.state {
        case .running: 0
        case .waiting: waitRank
        case .failed: 2
        case .suspended: 5
        case .cancelled: 6
        case .succeeded: 7
        }
    }

    private var waitRank: Int {
        switch task.waitsFor {
        case .slot, nil: 4
        case .earliestStart: 3
        case let reason: WaitPhrases.isConstraint(reason) ? 3 : 1
        }
    }

    var style: TextStyle {
        switch task.state {
        case .running: isMoving ? .good : .wait
        case .waiting: task.waitsFor == .slot ? .plain : .wait
        case .failed: .bad
        default: .plain
        }
    }

    /// The state in words: how long a running transfer will take, or what a waiting one waits for and until when.
    func stateText(now: Int64) -> String {
        let state = task.state.word
        switch task.state {
        case .running, .waiting:
            guard let reason = task.reason, !isMoving else { return remaining ?? state }
            let word = reason.code.word.replacing("_", with: " ")
            let time = task.nextAttempt.flatMap { $0 > now ? " " + TransferRow.time($0, now: now) : nil } ?? ""
            let isFailure = reason.code == .retry || reason.code == .origin
            let text = (isFailure ? task.errorMessage : nil) ?? task.reasonText ?? ""
            return word + time + (text.isEmpty ? "" : ": " + text)
        case .failed: return state + (task.errorMessage.map { ": " + $0 } ?? "")
        case .suspended, .cancelled, .succeeded: return state
        }
    }

    /// How long the rest of the bytes takes at the present rate.
    private var remaining: String? {
        guard let left, task.bytesPerSecond > 0 else { return nil }
        let time = Text.approximate(seconds: Int64(clamping: left / task.bytesPerSecond)) + " left"
        return task.waitsFor == .rate ? time + ", limited" : time
    }

    /// A time such as "in 40 s", or "until 06:30" if it is not soon.
    private static func time(_ milliseconds: Int64, now: Int64) -> String {
        let seconds = (milliseconds - now + 999) / 1000
        return seconds < 3600
            ? "in " + Text.approximate(seconds: seconds) : "until " + Text.dateAndTime(milliseconds, now: now)
    }
}

/// The transfers of one session, sorted by their numbers. They are read in rotation, page by page.
struct SessionRows {
    private(set) var rows: [TransferRow] = []
    /// The last transfer that was read in rotation. Nil at the start of a rotation.
    private(set) var cursor: TaskID?
    /// The last transfer of a rotation if the screen is full. Nil if a rotation reads all transfers.
    private(set) var limit: TaskID?
    /// The number of rotations that have ended.
    private(set) var rotations = 0

    /// Whether a rotation has read all transfers.
    var isComplete: Bool { rotations > 0 && limit == nil }

    /// Whether the rotation ends here if the screen is full.
    var isAtLimit: Bool { limit.map { (cursor?.rawValue ?? 0) >= $0.rawValue } ?? (rotations == 0) }

    /// The number of the last transfer.
    var last: TaskID? { rows.last?.key.id }

    /// Takes over a page of a listing. The page has all transfers with numbers above `after`, up to and including
    /// `through`, or up to the last transfer if `through` is nil. Other rows with these numbers are removed.
    mutating func replace(after: TaskID?, through: TaskID?, by page: [TransferRow]) {
        let start = after.map { index(after: $0) } ?? 0
        let end = through.map { index(after: $0) } ?? rows.count
        rows.replaceSubrange(start..<max(start, end), with: page)
    }

    /// Takes over the next page of a rotation.
    /// - Parameter hasRoom: Whether more rows are permitted. If not, the transfers after the limit get no rows.
    mutating func take(_ page: [TransferRow], more: Bool, hasRoom: Bool) {
        if hasRoom, let former = limit, let last = page.last { limit = max(former, last.key.id) }
        let listed = page.filter { $0.key.id <= limit ?? $0.key.id }
        let end = listed.count < page.count ? limit : more ? page.last?.key.id : nil
        replace(after: cursor, through: end, by: listed)
        cursor = end
        if end != nil { return }
        limit = nil
        rotations += 1
    }

    /// Ends the rotation, because the screen is full.
    mutating func endRotation() {
        limit = cursor ?? TaskID(rawValue: 0)
        cursor = nil
        rotations += 1
    }

    /// At the start of a rotation, removes the transfers after the limit that no longer run.
    mutating func removeIdle() {
        guard cursor == nil, let limit else { return }
        let beyond = rows.reversed().prefix { $0.key.id > limit }
        remove(Set(beyond.filter { $0.task.state != .running }.map(\.key.id)))
    }

    /// Takes over new readings of transfers. A transfer that has no row gets one.
    mutating func update(_ readings: [TransferRow]) {
        for reading in readings {
            let place = index(after: reading.key.id)
            if place > 0, rows[place - 1].key.id == reading.key.id {
                rows[place - 1] = reading
            } else {
                rows.insert(reading, at: place)
            }
        }
    }

    /// Removes transfers that are no longer listed.
    mutating func remove(_ ids: Set<TaskID>) {
        if !ids.isEmpty { rows.removeAll { ids.contains($0.key.id) } }
    }

    /// The index of the first row with a number above `id`.
    private func index(after id: TaskID) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key.id <= id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
