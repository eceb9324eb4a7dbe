internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The end of a task that runs.
struct Ending: Sendable {
    let end: TaskEnd
    let attempt: UInt64
    let session: SessionID
    /// Part of the same transaction.
    let also: (@Sendable (Transaction) throws(Failure) -> Void)?
}

/// Small files end many at a time. What a session counts and tells is written once for all that end in one turn.
extension EngineCore {
    func end(_ ending: Ending) {
        if endings.isEmpty { loop.afterThisTurn { [unowned self] in endTogether() } }
        endings[ending.session, default: []].append(ending)
    }

    private func endTogether() {
        let all = endings
        endings = [:]
        for (session, endings) in all { end(endings, of: session) }
    }

    private func end(_ endings: [Ending], of session: SessionID) {
        let readsEvents = events.pushes(session)
        store({ (transaction) throws(Failure) in
            for ending in endings { try ending.also?(transaction) }
            return try transaction.end(endings.map(\.end), now: Clock.wallMilliseconds, readsEvents: readsEvents)
        }, then: { core, result in
            switch result {
            case .success(let change): core.ended(endings, change)
            case .failure(let failure): core.endAgain(endings, after: failure)
            }
        })
    }

    private func ended(_ endings: [Ending], _ change: Change?) {
        CrashPoint.afterEnd.reach()
        for ending in endings {
            transfers.runner(ending.end.task, ending.attempt)?.take(.concluded)
            forgetRepeats(of: ending.end.task)
        }
        guard let change else { return }
        if change.leavesBodies { requestBodies.sweep() }
        apply(credentials.closed(change.closedChallenges, of: change.session))
        announce(change)
    }

    /// Each by itself: one that cannot be written must not keep the others.
    private func endAgain(_ endings: [Ending], after failure: Failure) {
        for ending in endings {
            guard let runner = transfers.runner(ending.end.task, ending.attempt) else { continue }
            runner.attempt.commitAgain(after: failure) { [unowned self] in end([ending], of: ending.session) }
        }
    }
}
