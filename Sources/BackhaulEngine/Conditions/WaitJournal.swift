internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What a wait record is about. There is at most one open wait for each subject.
enum WaitSubject: Hashable {
    case hold(HeldTasks)
    /// No route to the server of the lane.
    case route(LaneID)
    /// The origin of the lane has asked for a pause.
    case origin(LaneID)
    /// A task that was redirected to an origin that has asked for a pause.
    case redirect(TaskID)
    /// A task that is too large for a budget.
    case budget(TaskID)
}

/// Writes wait records, which are database rows for the command `backhaul why`: when and for which reason tasks waited.
///
/// Each engine has one object of this type.
final class WaitJournal {
    /// For how many milliseconds after the engine's start a hold may continue an open record of an earlier engine. At
    /// the end of this time, usually every hold that exists is known, because `ConditionsWatch` waits for a shorter
    /// time for most facts of the system.
    private static let inheritanceMilliseconds: Int64 = 5_000

    /// A record that is in the store, or is being written there.
    private final class Record {
        var id: WaitID?
        /// The end of the wait, if the wait ended before the record got its id.
        var endsAt: Int64?
        init(id: WaitID? = nil) { self.id = id }
    }

    private let runtime: any Runtime
    private var waits: [WaitSubject: (began: Int64, records: [Record])] = [:]
    /// The open records of an earlier engine. A record is removed when a hold continues the record, or when the timer
    /// fires.
    private var inherited: [WaitScope: OpenWait] = [:]
    private var timer: (any RuntimeTimer)?

    init(_ runtime: any Runtime) { self.runtime = runtime }

    func close() { timer?.stop() }

    /// When the wait began, in Unix milliseconds.
    func began(_ subject: WaitSubject) -> Int64? { waits[subject]?.began }

    /// Begins a wait with a record for each of these scopes. A record of an earlier engine continues. If the subject
    /// waits already, for another reason, this wait ends.
    func begin(_ subject: WaitSubject, _ scopes: [WaitScope], _ hold: Hold) {
        end(subject)
        let now = runtime.clocks.wallMilliseconds
        var wait = (began: now, records: [Record]())
        for scope in scopes {
            if let open = inherited[scope], open.reason == hold.reason {
                inherited[scope] = nil
                wait.records.append(Record(id: open.id))
                wait.began = min(wait.began, open.beganMilliseconds)
            } else {
                wait.records.append(insert(scope, hold, at: now))
            }
        }
        waits[subject] = wait
    }

    private func insert(_ scope: WaitScope, _ hold: Hold, at now: Int64) -> Record {
        let record = Record()
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.waits.begin(scope, hold.reason, hold.sentence, now: now)
            },
            then: { [unowned self] result in
                // If the store could not write the record, the wait is not listed.
                guard case .success(let id) = result else { return [] }
                record.id = id
                if let end = record.endsAt { self.end(id, at: end) }
                return []
            })
        return record
    }

    func end(_ subject: WaitSubject, at time: Int64? = nil) {
        let time = time ?? runtime.clocks.wallMilliseconds
        for record in waits.removeValue(forKey: subject)?.records ?? [] {
            record.endsAt = time
            if let id = record.id { end(id, at: time) }
        }
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

extension HeldTasks {
    /// The scopes of the wait records for this hold. Each held lane gets its own record if three conditions are met:
    /// the reason depends on the network, the hold does not affect all lanes of the session, and it affects at most
    /// `HoldAction.recordLimit` lanes. Any other hold of a group gets one record for the whole session.
    func waitScopes(_ reason: WaitReason, _ scheduler: TaskScheduler) -> [WaitScope] {
        switch self {
        case .laneGroup(let key):
            guard let lane = scheduler.lanes[key.lane] else { return [] }
            return [WaitScope(lane.session, constraints: key.constraints, lane: key.lane)]
        case .constraintGroup(let group):
            let mine = scheduler.lanes(of: group.session)
            let ofGroup = mine.filter { $0.networkScope == group.networkScope }
            guard reason.isOfNetwork, ofGroup.count < mine.count, ofGroup.count <= HoldAction.recordLimit else {
                return [WaitScope(group.session, constraints: group.constraints)]
            }
            return ofGroup.map { WaitScope(group.session, constraints: group.constraints, lane: $0.id) }
        }
    }
}
