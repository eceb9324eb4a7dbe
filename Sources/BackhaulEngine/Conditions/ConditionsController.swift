internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Decides when tasks are judged again, and in which order. To judge tasks means to decide whether they may run under
/// the present conditions, such as power and network. Other objects (parts) of the engine judge the tasks.
///
/// Each engine has one object of this type. Tasks are judged when a condition, a budget or the time has changed. A
/// condition is read only while something depends on it.
final class ConditionsController {
    /// The shortest delay until the next check, in milliseconds. With this limit, a mistake cannot keep the loop busy.
    private static let shortestCheckInterval: Int64 = 20

    private enum Plan {
        case reconsider, prune
    }

    private let runtime: any Runtime
    private let running: any RunningTasks
    private let parts: ConditionParts
    private let deadlines: DeadlineController
    private let timeZone: TimeZoneMonitor
    private let activityNeeds: () -> ConditionSet
    private var timer: (any RuntimeTimer)?
    private var planned: Set<Plan> = []
    /// The time at which all groups (`ConstraintGroup`) were judged last, by the boot clock.
    private var reconsideredAt: Int64 = 0
    private var isClosed = false

    /// - activityNeeds: returns the conditions on which activities with an open window depend.
    init(
        _ runtime: any Runtime, _ running: any RunningTasks, _ parts: ConditionParts, _ deadlines: DeadlineController,
        _ timeZone: TimeZoneMonitor, activityNeeds: @escaping () -> ConditionSet
    ) {
        self.runtime = runtime
        self.running = running
        self.parts = parts
        self.deadlines = deadlines
        self.timeZone = timeZone
        self.activityNeeds = activityNeeds
        timer = runtime.timer { [unowned self] in check() }
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
        guard let findings = parts.monitor.check() else { return [] }
        var effects: [EngineEffect] = []
        if let network = findings.network { effects += parts.budgets.networkIdentified(network) }
        if findings.isOtherNetwork {
            parts.throughput.networkChanged()
            parts.uplink.networkChanged()
            // On another network, all groups must be judged again, but the caller may judge only some of them. So the
            // effect `reconsider` follows.
            effects += [.reevaluateDelayed, .reconsider]
        }
        effects += parts.uplink.connectivity(findings.connectivity)
        parts.monitor.decide()
        return effects + parts.budgets.count()
    }

    /// Judges all groups and slow lanes. Tasks stop or start when the returned effects (actions for other parts) are
    /// applied.
    func reconsider() -> [EngineEffect] {
        guard !isClosed else { return [] }
        reconsideredAt = runtime.now
        var effects = decide(Array(parts.holds.groups.keys))
        effects += parts.probes.reconsiderThroughput()
        parts.probes.probeUplink()
        schedulePruning()
        scheduleCheck()
        return effects + [.conditionsDecided]
    }

    private func decide(_ groups: [ConstraintGroup]) -> [EngineEffect] {
        let effects = parts.holds.prepare(groups) ? takeConditions() : []
        return effects + parts.holds.decide(groups)
    }

    /// Adds a group whose tasks run or wait, and judges the group if it is new.
    func note(_ group: ConstraintGroup) -> [EngineEffect] {
        guard parts.holds.add(group) else { return [] }
        let effects = decide([group])
        scheduleCheck()
        return effects
    }

    /// Judges all groups again, because the configuration of the session changed.
    func configurationChanged(of session: SessionID) -> [EngineEffect] {
        parts.holds.configurationChanged(of: session)
        return reconsider()
    }

    /// The holds of an activity that has no task yet: the reasons for which it may not start. Nil if a condition that
    /// the activity needs was not read yet.
    func holds(
        for constraints: EffectiveConstraints, of session: SessionID
    ) -> (holds: [Hold]?, effects: [EngineEffect]) {
        guard parts.monitor.isRead(constraints.neededAtStart(isLocal: false)) else { return (nil, []) }
        let effects = takeConditions()
        return (parts.holds.holds(constraints, of: session), effects)
    }

    // MARK: The end of an iteration of the loop

    func scheduleReconsideration() { plan(.reconsider) { [unowned self] in reconsider() } }

    func schedulePruning() { plan(.prune) { [unowned self] in prune() } }

    private func plan(_ plan: Plan, _ body: @escaping () -> [EngineEffect]) {
        guard planned.insert(plan).inserted else { return }
        runtime.afterThisIteration { [unowned self] in planned.remove(plan) == nil ? [] : body() }
    }

    /// Called before tasks start. If a judgement of all groups is planned for the end of this iteration of the loop, or
    /// the source has reported a change, judges all groups now.
    func evaluatePlanned() -> [EngineEffect] {
        let isPlanned = planned.remove(.reconsider) != nil
        if parts.monitor.takeChange() { return conditionsChanged() }
        return isPlanned ? reconsider() : []
    }

    /// Forgets groups without tasks, and sets the monitor's needs to the conditions on which the other groups depend.
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
        // While waiting tasks are being loaded, no group is forgotten. The results of the loads show which groups wait.
        guard !holds.isLoading else { return [] }
        let lasting = holds.prune(running: runningGroups)
        for key in holds.slow.keys where !holds.waits(key) && !runningLanes.contains(key) {
            holds.forgetSlow(key)
            parts.throughput.forget(key)
        }
        deadlines.forgetEnds(except: holds.heldSessions)
        var needs = holds.needs(lasting: lasting).union(activityNeeds())
        let readsNetwork = budgets.updateNetworkReading()
        if parts.admission.hasDelayed || readsNetwork { needs.insert(.network) }
        let effects = needs.contains(.network) ? [] : budgets.networkBecameUnknown()
        parts.monitor.setNeeds(needs)
        timeZone.setNeeded(parts.admission.hasDelayed || holds.dependsOnCalendar)
        scheduleCheck()
        return effects
    }

    // MARK: The next check

    /// Starts the timer for the next time at which a reading or a clock may change a judgement.
    func scheduleCheck() {
        guard !isClosed else { return }
        // The search for probes (tasks that test whether others may start) begins at the time of the last judgement,
        // because a probe may have become due since then.
        let judged = reconsideredAt
        let bootTimes = [
            parts.monitor.nextCheck, parts.throughput.nextProbe(since: judged), parts.uplink.nextProbe(since: judged),
            parts.holds.nextIdle, parts.budgets.readsNetworkUntil,
        ]
        let waits =
            bootTimes.map { $0.map { $0 - runtime.now } }
            + [deadlines.untilNext, parts.holds.nextChange.map { $0 - runtime.clocks.wallMilliseconds }]
        guard let next = waits.compactMap(\.self).min() else {
            timer?.stop()
            return
        }
        timer?.start(milliseconds: min(max(Self.shortestCheckInterval, next), CalendarWatch.longestCheckInterval))
    }

    private func check() -> [EngineEffect] {
        runtime.clocks.readTimeZone()
        deadlines.check()
        return conditionsChanged()
    }

    /// Judges all groups again, because the clock or the time zone was set, or because the machine has slept.
    func clockWasSet() -> [EngineEffect] { isClosed ? [] : check() + [.reevaluateDelayed] }
}
