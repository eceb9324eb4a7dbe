internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Writes wait records, which are database rows for the command `backhaul why`: when and for which reason tasks waited.
///
/// Each engine has one object of this type.
final class WaitJournal {
    /// For how many milliseconds after the engine's start a hold (a reason to wait) may continue an open record of an
    /// earlier engine. At the end of this time, usually every hold that exists is known, because `ConditionsWatch`
    /// waits for a shorter time for most facts of the system.
    private static let inheritanceMilliseconds: Int64 = 5_000

    private let runtime: any Runtime
    private var rows = WaitRows()
    /// The open records of an earlier engine. A record is removed when a hold continues the record, or when the timer
    /// fires.
    private var inherited: [WaitScope: OpenWait] = [:]
    private var timer: (any RuntimeTimer)?

    init(_ runtime: any Runtime) { self.runtime = runtime }

    func close() { timer?.stop() }

    /// Begins a record, or continues the record of an earlier engine. Returns the record and the time at which it
    /// began, in Unix milliseconds.
    func begin(_ scope: WaitScope, _ hold: Hold) -> (row: WaitRow, began: Int64) {
        if let open = inherited[scope], open.reason == hold.reason {
            inherited[scope] = nil
            return (rows.adopt(open.id), open.beganMilliseconds)
        }
        let row = rows.begin()
        let now = runtime.clocks.wallMilliseconds
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.waits.begin(scope, hold.reason, hold.sentence, now: now)
            },
            then: { [unowned self] result in
                guard case .success(let id) = result else {
                    rows.insertFailed(row)
                    return []
                }
                if let end = rows.inserted(row, id) { self.end(id, at: end) }
                return []
            })
        return (row, now)
    }

    func end(_ rows: [WaitRow]) {
        for row in rows { end(row) }
    }

    /// Ends the record. `time`: Unix milliseconds; nil means now.
    func end(_ row: WaitRow, at time: Int64? = nil) {
        let time = time ?? runtime.clocks.wallMilliseconds
        if let id = rows.end(row, at: time) { end(id, at: time) }
    }

    private func end(_ id: WaitID, at time: Int64) {
        runtime.store({ (transaction) throws(Failure) in try transaction.waits.end(id, now: time) }, then: { _ in [] })
    }

    /// Takes over the open records of an earlier engine, which began these records and did not end them.
    func inherit(_ waits: [OpenWait]) {
        guard !waits.isEmpty else { return }
        for wait in waits { inherited[wait.scope] = wait }
        let opened = runtime.clocks.wallMilliseconds
        // A scope says which tasks wait. If several records have the same scope, a hold can continue only one of these
        // records. The other records end here.
        for wait in waits where inherited[wait.scope]?.id != wait.id { end(wait.id, at: opened) }
        timer = runtime.timer { [unowned self] in
            for wait in inherited.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) { end(wait.id, at: opened) }
            inherited = [:]
            return []
        }
        timer?.start(milliseconds: Self.inheritanceMilliseconds)
    }
}
