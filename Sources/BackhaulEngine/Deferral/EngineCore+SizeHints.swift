internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A task that expects to move more than is left of a budget waits for the next day or month, while smaller ones go on.
extension EngineCore {
    /// Of that many at once it is written down when they have waited.
    private static let rowLimit = 1_024

    /// Those that fit, of tasks of one lane. The others are delayed.
    func fitting(_ tasks: [StoredTask], in lane: LaneID) -> [StoredTask] {
        let budgets = lanes[lane].map { $0.reach != .thisMachine ? self.budgets(of: $0.session) : [] } ?? []
        var fitting: [StoredTask] = []
        var delayed: [(task: TaskID, hold: Hold)] = []
        for task in tasks {
            if let hold = DeferralDecision.fits(task.statedBytes, budgets) {
                delayed.append((task.id, hold))
            } else {
                fitting.append(task)
                endDelay(of: task.id)
            }
        }
        if let lane = lanes[lane] { delay(delayed, of: lane, until: Self.end(of: budgets)) }
        return fitting
    }

    /// Whatever it waits for now, or whatever has become of it, it is no budget.
    func endDelay(of task: TaskID) {
        if let row = deferral.delayedRows.removeValue(forKey: task) { journal.end(row) }
    }

    /// When any of them begins anew, by the boot clock.
    private static func end(of budgets: [BudgetUse]) -> Int64 {
        let now = Clock.wallMilliseconds
        return Clock.bootMilliseconds + max(1_000, (budgets.map(\.period.endMilliseconds).min() ?? now) - now)
    }

    /// Looked at again when any of the budgets begins anew.
    private func delay(_ tasks: [(task: TaskID, hold: Hold)], of lane: Lane, until due: Int64) {
        guard !tasks.isEmpty else { return }
        deferral.mayHaveDelayed = true
        deferral.hasDelayed = true
        for (task, hold) in tasks
        where deferral.delayedRows[task] == nil && deferral.delayedRows.count < Self.rowLimit {
            deferral.delayedRows[task] = journal.begin(WaitScope(lane.session, task: task), hold).row
        }
        let ids = tasks.map(\.task)
        store({ (transaction) throws(Failure) in
            try transaction.delay(ids, until: due, for: .budget)
        }, then: { core, result in
            guard case .success = result else {
                // The store is full or failing for now. At once they would be found again.
                return core.scheduler.reloadLater([lane.id])
            }
            core.scheduler.due(at: due)
            core.scheduler.tasksWait(in: [lane.id], reload: false)
        })
    }

    /// The network, its budgets or the calendar are others: whoever was too large may fit now. Judged at the end of
    /// this turn, when all of them are known, and in the store: who does not fit is never without its reason.
    func releaseDelayed() {
        guard !deferral.isJudgingDelayed else { return deferral.judgesDelayedAgain = true }
        guard deferral.mayHaveDelayed else { return }
        deferral.isJudgingDelayed = true
        loop.afterThisTurn { [unowned self] in
            deferral.mayHaveDelayed = false
            deferral.judgesDelayedAgain = false
            judgeDelayed(by: judgement(), after: nil)
        }
    }

    /// The budgets of each session, and when the first of them begins anew: the same for all that are judged together.
    private typealias Judgement = [SessionID: (budgets: [BudgetUse], end: Int64)]

    private func judgement() -> Judgement {
        var judgement: Judgement = [:]
        for session in sessions.ids {
            let budgets = budgets(of: session)
            judgement[session] = (budgets, Self.end(of: budgets))
        }
        return judgement
    }

    private func judgeDelayed(by judgement: Judgement, after last: DelayedTask?) {
        guard !hasFailed else { return }
        store({ (transaction) throws(Failure) in
            try transaction.judgeDelayed(for: .budget, after: last) { task in
                guard let mine = judgement[task.session],
                    DeferralDecision.fits(task.statedBytes, mine.budgets) != nil
                else { return nil }
                return mine.end
            }
        }, then: { core, result in
            let judged = try? result.get()
            if judged?.next != nil || judged == nil { core.deferral.mayHaveDelayed = true }
            core.scheduler.due(at: judged?.next)
            core.scheduler.tasksWait(in: judged?.lanes ?? [], reload: false)
            if let last = judged?.last, !core.deferral.judgesDelayedAgain {
                return core.judgeDelayed(by: judgement, after: last)
            }
            core.haveJudgedDelayed(isAll: judged != nil && judged?.last == nil)
        })
    }

    private func haveJudgedDelayed(isAll: Bool) {
        deferral.isJudgingDelayed = false
        if !isAll { deferral.mayHaveDelayed = true }
        // Those that were delayed meanwhile were judged as they are now.
        deferral.hasDelayed = deferral.mayHaveDelayed
        planPruning()
        guard deferral.judgesDelayedAgain else { return }
        deferral.judgesDelayedAgain = false
        releaseDelayed()
    }

    /// Why a delayed task waits, as it is now.
    func budgetSentence(_ info: TaskInfo, _ place: TaskPlace, of session: SessionID) -> String? {
        let stated = DeferralDecision.stated(
            received: info.expectedBytesReceived ?? place.expectedSize,
            sent: info.expectedBytesSent ?? info.bodySize, offset: info.offset)
        return DeferralDecision.fits(stated, budgets(of: session))?.sentence
    }

    /// Those of each session together, with the sentence of the smallest, which is the next to go on.
    func delayedInfos(
        _ tasks: [DelayedTask], began: [SessionID: Int64],
        _ names: [SessionID: (application: String, session: String)]
    ) -> [HoldInfo] {
        Dictionary(grouping: tasks, by: \.session).compactMap { session, tasks in
            guard let name = names[session], let smallest = tasks.map({ $0.statedBytes ?? 0 }).min() else { return nil }
            let budgets = self.budgets(of: session)
            var hold = DeferralDecision.fits(smallest, budgets) ?? Hold(.budget, WaitReason.budget.text ?? "")
            if tasks.count > 1 {
                hold.sentence = "each expects more than is left of a budget; of the smallest: \(hold.sentence)"
            }
            return HoldInfo(
                application: name.application, session: name.session, hold: hold,
                beganMilliseconds: began[session] ?? Clock.wallMilliseconds, tasks: UInt64(tasks.count))
        }
    }
}

extension StoredTask {
    /// What it is to receive and send.
    fileprivate var statedBytes: UInt64? {
        let options = request.options
        return DeferralDecision.stated(
            received: options.expectedBytesReceived ?? options.expectedSize,
            sent: options.expectedBytesSent ?? options.body.flatMap { BodyLayout($0).size },
            offset: checkpoint?.syncedOffset ?? 0)
    }
}
