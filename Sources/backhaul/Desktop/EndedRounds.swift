import Backhaul

/// Finds the rounds of a session that have ended since the last reading.
struct EndedRounds {
    /// The last round that was reported, or that ended before the command started. Nil before the first reading.
    private var last: UInt64?
    /// All transfers of later rounds have higher numbers, except transfers that were resumed.
    private var after: UInt64 = 0

    /// Begins a reading. Nil if no round has ended since the last one.
    /// - Parameters:
    ///   - round: The number of the current or last round.
    ///   - lowest: The lowest number of a transfer that has not ended.
    ///   - start: When the command started, in Unix milliseconds.
    mutating func begin(round: UInt64, liveTasks: UInt64, lowest: UInt64?, since start: Int64) -> EndedTransfers? {
        if let lowest { after = min(after, lowest - 1) }
        let ended = liveTasks == 0 ? round : max(round, 1) - 1
        // A session that is new to the command and has no live transfer may have ended a round since the start.
        let first = last.map { $0 + 1 } ?? (liveTasks == 0 ? ended : ended + 1)
        let earliest = last == nil ? start : nil
        last = ended
        guard first <= ended, ended > 0 else { return nil }
        return EndedTransfers(rounds: first...ended, after: after, earliest: earliest)
    }

    /// Ends a reading, after all transfers with numbers above `transfers.after` were counted.
    mutating func end(_ transfers: EndedTransfers) { after = transfers.highest }
}

/// Counts the transfers of the rounds that have ended since the last reading.
struct EndedTransfers {
    let rounds: ClosedRange<UInt64>
    /// The transfers of the rounds have higher numbers.
    let after: UInt64
    /// Transfers that ended before this time do not count. Nil if all count.
    private let earliest: Int64?
    /// The highest number of a transfer of these and earlier rounds.
    private(set) var highest: UInt64
    private(set) var result = RoundResult()
    private var counted: Set<TaskID> = []

    fileprivate init(rounds: ClosedRange<UInt64>, after: UInt64, earliest: Int64?) {
        self.rounds = rounds
        self.after = after
        self.earliest = earliest
        highest = after
    }

    /// Takes over a page of the list or of the history. A transfer may be on pages of both.
    mutating func count(_ tasks: [TaskInfo]) {
        for task in tasks {
            // A later round may have begun during the reading.
            guard task.round <= rounds.upperBound else { continue }
            highest = max(highest, task.id.rawValue)
            guard rounds.contains(task.round), task.hasEnded, counted.insert(task.id).inserted,
                earliest.map({ (task.endedMilliseconds ?? 0) >= $0 }) ?? true
            else { continue }
            result.add(task)
        }
    }
}
