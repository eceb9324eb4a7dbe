internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// The ends of resource time-outs of tasks that nothing else looks at: those that wait for their turn.
extension EngineCore {
    private static let lookMilliseconds: Int64 = 5_000
    /// At most so many end with one look.
    private static let overdueLimit = 256

    /// Tasks that are loaded are the next of their lanes and mostly the oldest. They need no turn to end. Looked for
    /// while something runs, which is why they wait.
    func endOverdue() {
        guard loop.now - lastLookForOverdue >= Self.lookMilliseconds else { return }
        lastLookForOverdue = loop.now
        let overdue = ready.values.lazy.filter { [self] task in
            sessions[task.session].map { calendar.remainingMilliseconds(of: task, $0) <= 0 } ?? false
        }
        for task in Array(overdue.prefix(Self.overdueLimit)) where runners[task.id] == nil {
            scheduler.drop(task.id)
            run(task, holdsTurn: false)
        }
    }

    // MARK: Of those that are held back

    /// Tasks of the session are held, perhaps for longer than their time.
    func noteHeld(_ session: SessionID) {
        if deferral.endsToFind.isEmpty {
            loop.afterThisTurn { [unowned self] in
                let sessions = deferral.endsToFind
                deferral.endsToFind = []
                for session in sessions { findEndOfTime(of: session) }
            }
        }
        deferral.endsToFind.insert(session)
    }

    private func findEndOfTime(of session: SessionID) {
        runtime.storeUntilDone({ (transaction) throws(Failure) in
            try transaction.nextEndOfTime(session)
        }, then: { [unowned self] end in
            deferral.endsOfTime[session] = end
            planLook()
            return []
        })
    }

    /// They need neither a turn nor good conditions to end.
    func endHeldOverdue() {
        let now = calendar.milliseconds
        for (session, end) in deferral.endsOfTime where end <= now {
            deferral.endsOfTime[session] = nil
            runtime.storeUntilDone({ (transaction) throws(Failure) in
                try transaction.overdue(of: session, limit: Self.overdueLimit, now: now)
            }, then: { [unowned self] overdue in
                for task in overdue where transfers[task.id] == nil {
                    scheduler.drop(task.id)
                    run(task, holdsTurn: false)
                }
                noteHeld(session)
                return []
            })
        }
    }
}
