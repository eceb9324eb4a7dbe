internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Wait records: since when and why tasks wait, so that a person can read it later.
///
/// One for the store.
final class WaitJournal {
    /// Until then it is known what holds tasks back now: readings that do not come are not waited for longer
    /// (`ConditionsWatch`).
    private static let inheritanceMilliseconds: Int64 = 5_000

    private let runtime: any Runtime
    private var rows = WaitRows()
    /// Open records of an earlier engine, until it is known whether they go on.
    private var inherited: [WaitScope: OpenWait] = [:]
    private var timer: (any RuntimeTimer)?

    init(_ runtime: any Runtime) { self.runtime = runtime }

    func close() { timer?.stop() }

    /// Returns the record, and since when it lasts: an earlier engine may have begun it.
    func begin(_ scope: WaitScope, _ hold: Hold) -> (row: WaitRow, began: Int64) {
        if let open = inherited[scope], open.reason == hold.reason {
            inherited[scope] = nil
            return (rows.adopt(open.id), open.beganMilliseconds)
        }
        let row = rows.begin()
        let now = Clock.wallMilliseconds
        runtime.store({ (transaction) throws(Failure) in
            try transaction.waits.begin(scope, hold.reason, hold.sentence, now: now)
        }, then: { [unowned self] result in
            guard case .success(let id) = result else {
                rows.lost(row)
                return []
            }
            if let end = rows.made(row, id) { self.end(id, at: end) }
            return []
        })
        return (row, now)
    }

    func end(_ rows: [WaitRow]) {
        for row in rows { end(row) }
    }

    func end(_ row: WaitRow, at time: Int64 = Clock.wallMilliseconds) {
        if let id = rows.end(row, at: time) { end(id, at: time) }
    }

    private func end(_ id: WaitID, at time: Int64) {
        runtime.store({ (transaction) throws(Failure) in try transaction.waits.end(id, now: time) }, then: { _ in [] })
    }

    /// Records that an earlier engine has begun and not ended.
    func inherit(_ waits: [OpenWait]) {
        guard !waits.isEmpty else { return }
        for wait in waits { inherited[wait.scope] = wait }
        let opened = Clock.wallMilliseconds
        // Of several with one scope one can go on.
        for wait in waits where inherited[wait.scope]?.id != wait.id { end(wait.id, at: opened) }
        timer = runtime.timer { [unowned self] in
            for wait in inherited.values { end(wait.id, at: opened) }
            inherited = [:]
            return []
        }
        timer?.start(milliseconds: Self.inheritanceMilliseconds)
    }
}
