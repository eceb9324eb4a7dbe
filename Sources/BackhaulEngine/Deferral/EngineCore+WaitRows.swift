internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Begins and ends of waits are written down, so that a person can see later what a task has waited for.
extension EngineCore {
    /// One row for all lanes of the session, unless some of them are not held for the same reason.
    func begin(_ key: TaskClass, _ hold: Hold) -> (rows: [WaitRow], began: Int64) {
        let mine = lanes.values.filter { $0.session == key.session }
        let ofClass = mine.filter { $0.reach == key.reach }
        guard hold.reason.isOfNetwork, ofClass.count < mine.count, ofClass.count <= Self.rowLimit else {
            let (row, began) = begin(WaitScope(key.session, constraints: key.constraints), hold)
            return ([row], began)
        }
        let begun = ofClass.map { begin(WaitScope(key.session, constraints: key.constraints, lane: $0.id), hold) }
        return (begun.map(\.row), begun.map(\.began).min() ?? Clock.wallMilliseconds)
    }

    /// The newest thousand of a session are kept: this many must not push all others out.
    private static let rowLimit = 64

    func end(_ rows: [WaitRow]) {
        for row in rows { end(row) }
    }

    /// Returns its row, and since when it lasts: an earlier engine may have begun it.
    func begin(_ scope: WaitScope, _ hold: Hold) -> (row: WaitRow, began: Int64) {
        if let open = deferral.inherited[scope], open.reason == hold.reason {
            deferral.inherited[scope] = nil
            return (deferral.rows.adopt(open.id), open.beganMilliseconds)
        }
        let row = deferral.rows.begin()
        let now = Clock.wallMilliseconds
        store({ (transaction) throws(Failure) in
            try transaction.beginWait(scope, hold.reason, hold.sentence, now: now)
        }, then: { core, result in
            guard case .success(let id) = result else { return core.deferral.rows.lost(row) }
            if let end = core.deferral.rows.made(row, id) { core.end(id, at: end) }
        })
        return (row, now)
    }

    func end(_ row: WaitRow, at time: Int64 = Clock.wallMilliseconds) {
        if let id = deferral.rows.end(row, at: time) { end(id, at: time) }
    }

    private func end(_ id: WaitID, at time: Int64) {
        store({ (transaction) throws(Failure) in try transaction.endWait(id, now: time) }, then: { _, _ in })
    }

    // MARK: Of an earlier engine

    /// So long it may take until it is known what holds tasks back now: readings that do not come are not waited for
    /// longer (`ConditionsWatch`).
    private static let inheritanceMilliseconds: Int64 = 5_000

    func inherit(_ waits: [OpenWait]) {
        guard !waits.isEmpty else { return }
        for wait in waits { deferral.inherited[wait.scope] = wait }
        let opened = Clock.wallMilliseconds
        // Of several with one scope one can last.
        for wait in waits where deferral.inherited[wait.scope]?.id != wait.id { end(wait.id, at: opened) }
        let timer = loop.timer { [unowned self] in
            for wait in deferral.inherited.values { end(wait.id, at: opened) }
            deferral.inherited = [:]
            deferral.inheritanceTimer = nil
        }
        deferral.inheritanceTimer = timer
        timer.start(milliseconds: Self.inheritanceMilliseconds)
    }
}

extension WaitReason {
    /// Nothing that servers of this machine wait for.
    fileprivate var isOfNetwork: Bool {
        switch self {
        case .metered, .network, .budget, .portal: true
        default: false
        }
    }
}
