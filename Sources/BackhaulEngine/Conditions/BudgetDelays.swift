internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Delays tasks that expect to transfer more bytes than a budget has left. A task is delayed until the first of its
/// session's budgets starts its next period. Meanwhile, smaller tasks start. The decision is `DeferralDecision`; this
/// class records the delays in the store, decides again when a budget or the network changes, and explains them in
/// listings.
///
/// Each engine has one object of this type.
final class BudgetDelays {
    /// How many delayed tasks may have wait records at the same time.
    private static let recordLimit = 1_024

    /// Whether there are delayed tasks in the store.
    private enum Delayed {
        case none
        /// The store may have delayed tasks of an earlier engine.
        case unknown
        case some
    }

    /// A pass over all delayed tasks.
    private struct Pass {
        /// Whether tasks remain delayed.
        var hasRemaining = false
        /// Whether the network, a budget or the calendar changed during the pass.
        var isOutdated = false
    }

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let budgets: BudgetAccounting
    private var delayed = Delayed.unknown
    private var pass: Pass?
    /// The delayed tasks with wait records.
    private var recorded: Set<TaskID> = []

    init(_ runtime: any Runtime, _ sessions: SessionTable, _ budgets: BudgetAccounting) {
        self.runtime = runtime
        self.sessions = sessions
        self.budgets = budgets
    }

    /// Whether this engine knows that there are delayed tasks. For delayed tasks, the engine must observe the network,
    /// even after it has forgotten the groups of these tasks.
    var hasDelayed: Bool { delayed == .some }

    /// The budgets that limit the tasks of the lane.
    func budgets(in lane: Lane?) -> [BudgetUsage] {
        guard let lane, lane.networkScope != .loopback else { return [] }
        return budgets.budgets(of: lane.session)
    }

    /// Delays the tasks that are too large, and ends the delays of the others.
    func apply(_ decision: LoadDecision, in lane: Lane?) -> [EngineEffect] {
        let effects = decision.ready.sorted().flatMap(endDelay)
        guard let lane, !decision.tooLarge.isEmpty else { return effects }
        return effects + delay(decision.tooLarge, of: lane, until: end(of: budgets(in: lane)))
    }

    /// Ends the wait record of the task, because the task runs, has ended, or waits for another reason.
    func endDelay(of task: TaskID) -> [EngineEffect] {
        recorded.remove(task) == nil ? [] : [.waitEnded(.budget(task), at: runtime.clocks.wallMilliseconds)]
    }

    /// Returns the time, by the boot clock, at which the first of the budgets starts its next period.
    private func end(of budgets: [BudgetUsage]) -> Int64 {
        let now = runtime.clocks.wallMilliseconds
        return runtime.clocks.bootMilliseconds + max(1_000, (budgets.map(\.period.endMilliseconds).min() ?? now) - now)
    }

    private func delay(_ tasks: [LoadDecision.TooLarge], of lane: Lane, until due: Int64) -> [EngineEffect] {
        delayed = .some
        pass?.hasRemaining = true
        let ids = tasks.map(\.task)
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.delays.begin(ids, until: due, for: .budget)
            },
            then: { result in
                // If the store could not record the delay, the next load of the lane returns the same tasks. So this
                // load comes after a pause.
                guard case .success = result else { return [.reloadLater([lane.id])] }
                return [.due(at: due), .tasksHeld(of: lane.session), .tasksWait(in: [lane.id], reload: false)]
            })
        return tasks.compactMap { task in
            guard recorded.count < Self.recordLimit, recorded.insert(task.task).inserted else { return nil }
            return .waitBegan(.budget(task.task), [WaitScope(lane.session, task: task.task)], task.hold)
        }
    }

    // MARK: Judging delayed tasks

    /// Checks again which delayed tasks fit their budgets, because the network, its budgets or the calendar changed.
    /// This happens at the end of this iteration of the loop, when all changes are known. Meanwhile, the tasks stay in
    /// the store as delayed tasks. So a task that does not fit keeps its reason.
    func reevaluateDelayed() {
        if pass != nil {
            pass?.isOutdated = true
            return
        }
        guard delayed != .none else { return }
        pass = Pass()
        runtime.afterThisIteration { [unowned self] in
            pass = Pass()
            evaluate(by: terms(), after: nil)
            return []
        }
    }

    /// For each session: its budgets, and the time at which the first of these budgets starts its next period. All
    /// tasks of a pass are compared with the same budgets.
    private typealias Terms = [SessionID: (budgets: [BudgetUsage], end: Int64)]

    private func terms() -> Terms {
        var terms: Terms = [:]
        for session in sessions.ids.sorted() {
            let budgets = budgets.budgets(of: session)
            terms[session] = (budgets, end(of: budgets))
        }
        return terms
    }

    private func evaluate(by terms: Terms, after last: DelayedTask?) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.delays.evaluate(for: .budget, after: last) { task in
                    guard let mine = terms[task.session], DeferralDecision.fits(task.statedBytes, mine.budgets) != nil
                    else { return nil }
                    return mine.end
                }
            },
            then: { [unowned self] result in
                guard case .success(let evaluated) = result else {
                    // The store is full or fails for now. Until the store can be read, the engine assumes that there
                    // are delayed tasks.
                    delayed = .some
                    return [.retryLater { [unowned self] in evaluate(by: terms, after: last) }]
                }
                if evaluated.next != nil { pass?.hasRemaining = true }
                let effects: [EngineEffect] = [
                    .due(at: evaluated.next), .tasksWait(in: evaluated.lanes, reload: true),
                ]
                guard let last = evaluated.last else { return effects + endPass() }
                if pass?.isOutdated == true {
                    pass?.hasRemaining = true
                    return effects + endPass()
                }
                evaluate(by: terms, after: last)
                return effects
            })
    }

    private func endPass() -> [EngineEffect] {
        guard let ended = pass else { return [] }
        pass = nil
        delayed = ended.hasRemaining ? .some : .none
        if ended.isOutdated { reevaluateDelayed() }
        return [.prune]
    }

    // MARK: Listing

    /// The present reason of a delayed task; nil if the task fits its budgets now.
    func sentence(_ info: TaskInfo, _ facts: ListedTaskFacts, of session: SessionID) -> String? {
        let stated = DeferralDecision.stated(
            received: info.expectedBytesReceived ?? facts.expectedSize,
            sent: info.expectedBytesSent ?? info.bodySize, offset: info.offset)
        return DeferralDecision.fits(stated, budgets.budgets(of: session))?.sentence
    }

    /// Returns one hold (a reason with a sentence) for each session with delayed tasks. The hold has the sentence of
    /// the smallest task, because this task starts next.
    func infos(
        _ tasks: [DelayedTask], began: [SessionID: Int64],
        _ names: [SessionID: (application: String, session: String)]
    ) -> [HoldInfo] {
        let bySession = Dictionary(grouping: tasks, by: \.session).sorted { $0.key < $1.key }
        return bySession.compactMap { session, tasks in
            guard let name = names[session], let smallest = tasks.map({ $0.statedBytes ?? 0 }).min() else { return nil }
            let budgets = budgets.budgets(of: session)
            var hold = DeferralDecision.fits(smallest, budgets) ?? Hold(.budget, WaitReason.budget.text ?? "")
            if tasks.count > 1 {
                hold.sentence = "each task expects more bytes than a budget has left; the smallest: \(hold.sentence)"
            }
            return HoldInfo(
                application: name.application, session: name.session, hold: hold,
                beganMilliseconds: began[session] ?? runtime.clocks.wallMilliseconds, tasks: UInt64(tasks.count))
        }
    }
}
