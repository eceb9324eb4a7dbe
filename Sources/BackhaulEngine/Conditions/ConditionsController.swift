internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Decides when the parts that hold tasks judge again, and in which order.
///
/// Each store has one. The parts judge after a condition, a budget or the time changed. No condition is read that
/// nothing depends on.
final class ConditionsController {
    /// The shortest delay until the next check, in milliseconds, so that a mistake cannot keep the loop busy.
    private static let shortestLook: Int64 = 20

    private enum Plan {
        case reconsider, prune
    }

    private let runtime: any Runtime
    private let running: any RunningTasks
    private let parts: ConditionParts
    private let deadlines: DeadlineController
    private let timeZone: TimeZoneMonitor
    private let activityNeeds: () -> ConditionNeeds
    private var timer: (any RuntimeTimer)?
    private var planned: Set<Plan> = []
    /// The time at which all groups were judged last, by the boot clock.
    private var reconsideredAt: Int64 = 0
    private var isClosed = false

    /// - activityNeeds: the conditions that activities with an open window depend on.
    init(
        _ runtime: any Runtime, _ running: any RunningTasks, _ parts: ConditionParts, _ deadlines: DeadlineController,
        _ timeZone: TimeZoneMonitor, activityNeeds: @escaping () -> ConditionNeeds
    ) {
        self.runtime = runtime
        self.running = running
        self.parts = parts
        self.deadlines = deadlines
        self.timeZone = timeZone
        self.activityNeeds = activityNeeds
        timer = runtime.timer { [unowned self] in look() }
    }

    /// Stops all judgements, because the engine ends or has failed.
    func close() {
        isClosed = true
        timer?.stop()
        timeZone.close()
    }

    // MARK: Judging

    /// Takes the present conditions, and judges all groups.
    func conditionsChanged() -> [EngineEffect] { isClosed ? [] : takeConditions() + reconsider() }

    private func takeConditions() -> [EngineEffect] {
        guard let findings = parts.monitor.look() else { return [] }
        var effects: [EngineEffect] = []
        if let network = findings.network { effects += parts.budgets.networkIs(network) }
        if findings.isOtherNetwork {
            parts.throughput.networkChanged()
            parts.uplink.networkChanged()
            // The change may be noticed while a single group is judged.
            effects += [.judgeDelayed, .reconsider]
        }
        effects += parts.uplink.connectivity(findings.connectivity)
        parts.monitor.decide()
        return effects + parts.budgets.count()
    }

    /// Judges all groups and slow lanes. Tasks stop or start when the effects are applied.
    func reconsider() -> [EngineEffect] {
        guard !isClosed else { return [] }
        reconsideredAt = runtime.now
        var effects = decide(Array(parts.holds.groups.keys))
        effects += parts.probes.reconsiderThroughput()
        parts.probes.probeUplink()
        planPruning()
        planLook()
        return effects + [.conditionsDecided]
    }

    private func decide(_ groups: [ConstraintGroup]) -> [EngineEffect] {
        let effects = parts.holds.prepare(groups) ? takeConditions() : []
        return effects + parts.holds.decide(groups)
    }

    /// Adds a group whose tasks run or wait, and judges it if it is new.
    func note(_ group: ConstraintGroup) -> [EngineEffect] {
        guard parts.holds.add(group) else { return [] }
        let effects = decide([group])
        planLook()
        return effects
    }

    /// The configuration of the session changed.
    func configurationChanged(of session: SessionID) -> [EngineEffect] {
        parts.holds.configurationChanged(of: session)
        return reconsider()
    }

    /// The holds of work that has no task yet. Nil: a condition that it depends on was not read yet.
    func holds(
        for constraints: EffectiveConstraints, of session: SessionID
    ) -> (holds: [Hold]?, effects: [EngineEffect]) {
        guard parts.monitor.isRead(constraints.neededAtStart(isLocal: false)) else { return (nil, []) }
        let effects = takeConditions()
        return (parts.holds.holds(constraints, of: session), effects)
    }

    // MARK: Once at the end of an iteration of the loop

    func planReconsider() { plan(.reconsider) { [unowned self] in reconsider() } }

    func planPruning() { plan(.prune) { [unowned self] in prune() } }

    private func plan(_ plan: Plan, _ body: @escaping () -> [EngineEffect]) {
        guard planned.insert(plan).inserted else { return }
        runtime.afterThisTurn { [unowned self] in planned.remove(plan) == nil ? [] : body() }
    }

    /// Does now what was planned for the end of this iteration of the loop, because tasks are about to start.
    func judgePlanned() -> [EngineEffect] {
        let isPlanned = planned.remove(.reconsider) != nil
        if parts.monitor.takeChange() { return conditionsChanged() }
        return isPlanned ? reconsider() : []
    }

    /// Forgets groups without tasks, and reads only the conditions that the others depend on.
    func prune() -> [EngineEffect] {
        let (holds, budgets) = (parts.holds, parts.budgets)
        guard !isClosed else { return [] }
        var runningGroups: Set<ConstraintGroup> = []
        var runningLanes: Set<LaneGroup> = []
        running.visit { task in
            runningGroups.insert(holds.group(of: task))
            runningLanes.insert(LaneGroup(of: task))
        }
        holds.noteBusy(runningGroups)
        // The results of the loads show which groups wait.
        guard !holds.isLoading else { return [] }
        let lasting = holds.prune(running: runningGroups)
        for key in holds.slow.keys where !holds.waits(key) && !runningLanes.contains(key) {
            holds.forgetSlow(key)
            parts.throughput.forget(key)
        }
        deadlines.forgetEnds(except: holds.heldSessions)
        var needs = holds.needs(lasting: lasting).union(activityNeeds())
        let isAsking = budgets.updateAsking()
        if parts.admission.hasDelayed || isAsking { needs.insert(.network) }
        let effects = needs.contains(.network) ? [] : budgets.networkIsUnknown()
        parts.monitor.setNeeds(needs)
        timeZone.setNeeded(parts.admission.hasDelayed || holds.dependsOnCalendar)
        planLook()
        return effects
    }

    // MARK: The next check

    /// Starts the timer for the first time at which a reading or a clock may change a judgement.
    func planLook() {
        guard !isClosed else { return }
        // From the last judgement on: a probe may have become due since then.
        let judged = reconsideredAt
        let bootTimes = [
            parts.monitor.nextLook, parts.throughput.nextProbe(since: judged), parts.uplink.nextProbe(since: judged),
            parts.holds.nextIdle, parts.budgets.asksUntil,
        ]
        let waits = bootTimes.map { $0.map { $0 - runtime.now } }
            + [deadlines.untilNext, parts.holds.nextChange.map { $0 - Clock.wallMilliseconds }]
        guard let next = waits.compactMap(\.self).min() else {
            timer?.stop()
            return
        }
        timer?.start(milliseconds: min(max(Self.shortestLook, next), CalendarWatch.longestLook))
    }

    private func look() -> [EngineEffect] {
        Clock.readTimeZone()
        deadlines.look()
        return conditionsChanged()
    }

    /// Judges again because the clock or the time zone was set, or the machine has slept.
    func clockWasSet() -> [EngineEffect] { isClosed ? [] : look() + [.judgeDelayed] }
}
