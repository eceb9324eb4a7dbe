internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Which tasks are held back: decided anew whenever conditions, constraints, budgets or the time may have changed it.
extension EngineCore {
    func taskClass(of task: StoredTask) -> TaskClass {
        TaskClass(session: task.session, constraints: task.constraints, reach: reach(of: task))
    }

    func reach(of task: StoredTask) -> Reach { lanes[task.lane]?.reach ?? Reach(task.origin) }

    /// Tasks of this class wait or run now.
    func note(_ key: TaskClass) {
        guard deferral.classes[key] == nil, let configuration = sessions[key.session],
            let constraints = deferral.constraints(of: key, configuration)
        else { return }
        deferral.classes[key] = ClassState(constraints: constraints)
        reconsider(key)
        planLook()
    }

    /// All that is known; tasks leave or start at once.
    func reconsider() {
        guard !hasFailed, !isLeaving else { return }
        deferral.reconsideredAt = loop.now
        for key in Array(deferral.classes.keys) { reconsider(key) }
        reconsiderThroughput()
        probeUplink()
        planPruning()
        planLook()
        considerSleep()
        activities.conditionsChanged()
        budgetsAreDecided()
    }

    /// Once at the end of this turn.
    func planReconsider() {
        guard !deferral.isReconsideringPlanned else { return }
        deferral.isReconsideringPlanned = true
        loop.afterThisTurn { [unowned self] in
            deferral.isReconsideringPlanned = false
            reconsider()
        }
    }

    private func reconsider(_ key: TaskClass) {
        guard var state = deferral.classes[key] else { return }
        let needed = neededAtStart(key, state.constraints)
        if needed != state.needed {
            state.needed = needed
            state.isUndecided = true
            monitor.need(needed)
        }
        let wasUndecided = state.isUndecided
        guard monitor.isRead(needed) else {
            // What was read is not known any more: whoever runs goes on, and nobody follows.
            state.isUndecided = true
            deferral.classes[key] = state
            if !wasUndecided { unload { self.taskClass(of: $0) == key } }
            return
        }
        if wasUndecided {
            state.isUndecided = false
            takeConditions()
        }
        let now = Clock.wallMilliseconds
        state.decidedAt = now
        let holds = holds(state.constraints, key, at: now)
        let before = state.held
        switch (before, holds.first) {
        case (nil, nil):
            deferral.classes[key] = state
            if wasUndecided { letGo(key) }
        case (nil, let first?):
            let (rows, began) = begin(key, first)
            state.held = Held(holds: holds, began: began, rows: rows)
            deferral.classes[key] = state
            hold(key, first.reason)
        case (let held?, nil):
            state.held = nil
            deferral.classes[key] = state
            journal.end(held.rows)
            letGo(key)
        case (var held?, let first?):
            if held.first?.reason != first.reason {
                journal.end(held.rows)
                (held.rows, held.began) = begin(key, first)
            }
            // A probe goes on only while nothing else holds its like.
            let isNew = !Set(holds.map(\.reason)).isSubset(of: held.reasons)
            held.holds = holds
            state.held = held
            deferral.classes[key] = state
            if isNew { hold(key, first.reason) }
        }
    }

    /// The newest thousand records of a session are kept: this many of one hold must not push all others out.
    private static let recordLimit = 64

    /// One record for all lanes of the session, unless some of them are not held for the same reason.
    private func begin(_ key: TaskClass, _ hold: Hold) -> (rows: [WaitRow], began: Int64) {
        let mine = lanes.values.filter { $0.session == key.session }
        let ofClass = mine.filter { $0.reach == key.reach }
        guard hold.reason.isOfNetwork, ofClass.count < mine.count, ofClass.count <= Self.recordLimit else {
            let (row, began) = journal.begin(WaitScope(key.session, constraints: key.constraints), hold)
            return ([row], began)
        }
        let begun = ofClass.map {
            journal.begin(WaitScope(key.session, constraints: key.constraints, lane: $0.id), hold)
        }
        return (begun.map(\.row), begun.map(\.began).min() ?? Clock.wallMilliseconds)
    }

    private func neededAtStart(_ key: TaskClass, _ constraints: EffectiveConstraints) -> ConditionNeeds {
        var needs = constraints.neededAtStart(isLocal: key.isLocal)
        // Each network has its own.
        if !key.isLocal, hasBudgets(key.session) { needs.insert(.network) }
        return needs
    }

    private func holds(_ constraints: EffectiveConstraints, _ key: TaskClass, at now: Int64) -> [Hold] {
        var holds = DeferralDecision.holds(constraints, monitor.conditions, facts(of: key, at: now))
        guard key.reach == .uplink, !holds.contains(where: { $0.reason == .portal }) else { return holds }
        if let hold = deferral.uplink.hold(now: loop.now, unix: now) { holds.append(hold) }
        return holds
    }

    /// For whoever decides about work that is no task yet. Nil: what it depends on was not read yet.
    func holds(for constraints: EffectiveConstraints, of session: SessionID) -> [Hold]? {
        guard monitor.isRead(constraints.neededAtStart(isLocal: false)) else { return nil }
        takeConditions()
        let key = TaskClass(session: session, constraints: .session, reach: .uplink)
        return holds(constraints, key, at: Clock.wallMilliseconds)
    }

    /// `now`: Unix milliseconds.
    func facts(of key: TaskClass, at now: Int64) -> DeferralFacts {
        DeferralFacts(
            now: now, bootMilliseconds: loop.now,
            localOffsetMilliseconds: { Clock.localOffsetMilliseconds(at: $0) },
            isLocal: key.isLocal, needsNoUplink: key.reach == .localNetwork,
            isUplinkProven: deferral.uplink.isProven,
            held: deferral.classes[key]?.held?.reasons ?? [],
            budgets: key.isLocal ? [] : budgets(of: key.session, at: now))
    }

    private func hold(_ key: TaskClass, _ reason: WaitReason) {
        noteHeld(key.session)
        giveUp(reason) { self.taskClass(of: $0) == key }
    }

    /// It is of another class now, which may be held for long.
    func hasJoined(_ runner: TaskRunner) {
        let key = taskClass(of: runner.task)
        note(key)
        let held = deferral.classes[key]?.held ?? deferral.slow[laneClass(of: runner.task)]
        if let reason = held?.first?.reason { giveUp(runner, reason) }
    }

    /// Running tasks leave at once, loaded ones stay in the store.
    func giveUp(_ reason: WaitReason, where isMeant: (StoredTask) -> Bool) {
        unload(where: isMeant)
        for runner in Array(runners.values) where isMeant(runner.task) { giveUp(runner, reason) }
    }

    private func giveUp(_ runner: TaskRunner, _ reason: WaitReason) {
        deferral.waiting[runner.task.lane, default: []].insert(runner.task.constraints)
        runner.deferred(for: reason)
    }

    private func unload(where isMeant: (StoredTask) -> Bool) {
        for task in scheduler.drop(where: isMeant) {
            deferral.waiting[task.lane, default: []].insert(task.constraints)
        }
    }

    private func letGo(_ key: TaskClass) {
        scheduler.tasksWait(in: deferral.lanes(of: key, among: lanes), reload: true)
    }

    // MARK: What they are told by

    /// A session has other constraints now.
    func constraintsChanged(of session: SessionID) {
        guard let configuration = sessions[session] else { return }
        for (key, state) in deferral.classes where key.session == session {
            guard let constraints = deferral.constraints(of: key, configuration), constraints != state.constraints
            else { continue }
            var changed = ClassState(constraints: constraints)
            changed.held = state.held
            deferral.classes[key] = changed
        }
        reconsider()
    }

    /// The session is gone.
    func forgetConstraints(of session: SessionID) {
        deferral.stated[session] = nil
        for (key, state) in deferral.classes where key.session == session {
            if let held = state.held { journal.end(held.rows) }
            deferral.classes[key] = nil
        }
        for lane in lanes.values where lane.session == session { deferral.waiting[lane.id] = nil }
        planPruning()
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
