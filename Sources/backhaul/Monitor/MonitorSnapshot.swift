import Backhaul

/// Counts of the transfers on the screen.
struct MonitorTotals: Equatable {
    private(set) var running = 0
    private(set) var waiting = 0
    private(set) var suspended = 0
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var succeeded = 0
    private(set) var bytesPerSecond: UInt64 = 0
    /// The bytes that are left of the transfers whose sizes are known.
    private(set) var bytesLeft: UInt64 = 0
    /// The number of live transfers whose sizes are not known yet.
    private(set) var unknownSizes = 0

    mutating func add(_ row: TransferRow) {
        switch row.task.state {
        case .running: running += 1
        case .waiting: waiting += 1
        case .suspended: suspended += 1
        case .failed: failed += 1
        case .cancelled: cancelled += 1
        case .succeeded: succeeded += 1
        }
        if row.task.hasEnded { return }
        bytesPerSecond = bytesPerSecond.addingReportingOverflow(row.task.bytesPerSecond).partialValue
        if let left = row.left {
            bytesLeft = bytesLeft.addingReportingOverflow(left).partialValue
        } else {
            unknownSizes += 1
        }
    }

    /// How many seconds the rest takes at the present rate. Nil if that is not known.
    var secondsLeft: Int64? {
        guard bytesPerSecond > 0, bytesLeft > 0, unknownSizes == 0 else { return nil }
        return Int64(clamping: bytesLeft / bytesPerSecond)
    }
}

/// What the live screen knows of the store at one moment.
struct MonitorSnapshot {
    var store = ""
    /// The engine, such as "daemon 1234".
    var engine = ""
    /// If the screen is for sessions with one name: a sentence that says that there is none, and which there are.
    var absence: String?
    /// Why the engine cannot be read at this moment, in one sentence. Nil if it can.
    var problem: String?
    /// The transfers, sorted by application, session and number.
    var rows: [TransferRow] = []
    var totals = MonitorTotals()
    /// The sessions that have transfers.
    var sessions: [SessionKey] = []
    /// The highest number of a transfer.
    var lastNumber: UInt64 = 0
    /// The number of transfers that are not listed, because the store has more than the screen holds.
    var omitted = 0
    var history = RateHistory()
    /// The time of the reading, in Unix milliseconds.
    var now: Int64 = 0

    /// Whether the engine was read.
    var isRead: Bool { !engine.isEmpty }
}
