internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Owns the decisions about holds (`Holds`), and decides when they are made again: when a condition, a budget, a server
/// or the time has changed. It passes the facts to `Holds`, and returns the actions as effects.
///
/// Each engine has one object of this type. A condition is read only while something depends on it.
final class ConditionsController {
    private enum Plan {
        case reconsider, prune
    }

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let running: any RunningTasks
    private let parts: ConditionParts
    private let deadlines: DeadlineController
    /// The conditions on which activities with an open window depend.
    var activityNeeds: ConditionSet = [] { didSet { if activityNeeds != oldValue { schedulePruning() } } }
    /// The conditions on which the removal of abandoned uploads depends.
    var removalNeeds: ConditionSet = [] { didSet { if removalNeeds != oldValue { schedulePruning() } } }
    private(set) var holds = Holds()
    /// Nil after `close`: nothing is judged any more.
    private var timer: (any RuntimeTimer)?
    private var planned: Set<Plan> = []
    /// The time at which all groups were judged last, by the boot clock.
    private var reconsideredAt: Int64 = 0

    init(
        _ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ running: any RunningTasks,
        _ parts: ConditionParts, _ deadlines: DeadlineController
    ) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.running = running
        self.parts = parts
        self.deadlines = deadlines
        timer = runtime.timer { [unowned self] in check() }
    }

    /// Stops all judgements, because the engine ends or has failed.
    func close() {
        timer?.stop()
        timer = nil
        parts.timeZone.close()
    }

    // MARK: Judging

    /// Takes the present conditions, and judges all groups and slow lanes.
    func conditionsChanged() -> [EngineEffect] { timer == nil ? [] : takeConditions().effects + reconsider() }

    /// Judges all groups and slow lanes. Tasks stop or start when the returned effects are applied.
    func reconsider() -> [EngineEffect] {
        guard timer != nil else { return [] }
        reconsideredAt = runtime.now
        let (read, _) = readConditions(for: holds.groups.keys)
        let actions = holds.judge(facts())
        schedulePruning()
        scheduleCheck()
        return read + effects(actions) + [.conditionsDecided]
    }

    /// Begins to read the conditions on which these groups depend, before the groups are judged. Takes the conditions
    /// if a group can be decided only now.
    private func readConditions(
        for groups: some Sequence<ConstraintGroup>
    ) -> (effects: [EngineEffect], isOther: Bool) {
        let hasBudgets = parts.budgets.hasBudgets
        parts.monitor.need(holds.needed(groups, hasBudgets: hasBudgets))
        let isDecidable = holds.isDecidable(groups, read: parts.monitor.readConditions, hasBudgets: hasBudgets)
        return isDecidable ? takeConditions() : ([], false)
    }

    /// Takes the present conditions. Bytes that were transferred until now are counted on the network that was used
    /// until now. `isOther`: whether all groups have to be judged, because the network is another one.
    private func takeConditions() -> (effects: [EngineEffect], isOther: Bool) {
        let (monitor, budgets) = (parts.monitor, parts.budgets)
        guard let findings = monitor.check() else { return ([], false) }
        var effects = findings.network.map(budgets.networkIdentified) ?? []
        if findings.isOtherNetwork { effects.append(.reevaluateDelayed) }
        let isOther = holds.networkRead(isOther: findings.isOtherNetwork, findings.connectivity, now: runtime.now)
        monitor.decide()
        return (effects + budgets.count(), isOther)
    }

    private func facts() -> HoldFacts {
        var facts = HoldFacts(wall: runtime.clocks.wallMilliseconds, boot: runtime.now)
        facts.localOffsetMilliseconds = { [clocks = runtime.clocks] in clocks.localOffsetMilliseconds(at: $0) }
        facts.conditions = parts.monitor.conditions
        facts.read = parts.monitor.readConditions
        facts.budgets = parts.budgets.budgetsOfAllSessions(at: facts.wall)
        facts.sessions = sessions.configurations
        facts.lanes = scheduler.lanes
        if holds.isPausingAny { facts.active = activeLanes }
        facts.hasSlot = { [running, scheduler] in running.hasCapacity && scheduler.hasSlot($0) }
        return facts
    }

    /// After the choice of a probe of a slow lane, the holds are judged again: a probe of the uplink may be due, too.
    private func effects(_ actions: [HoldAction]) -> [EngineEffect] {
        let choseSlowProbe = actions.contains { if case .loadProbe(_, .slow) = $0 { true } else { false } }
        return actions.map(EngineEffect.hold) + (choseSlowProbe && holds.uplink.isHeld ? [.reconsider] : [])
    }

    /// Adds a group whose tasks run or wait, and judges the group if it is new.
    func note(_ group: ConstraintGroup) -> [EngineEffect] {
        guard holds.add(group, sessions[group.session]) else { return [] }
        let (read, isOther) = readConditions(for: [group])
        let actions = holds.judge([group], facts())
        scheduleCheck()
        return read + effects(actions) + (isOther ? [.reconsider] : [])
    }

    /// Judges all groups again at the end of this iteration of the loop, because the configuration of the session
    /// changed. When the engine starts, the configurations of all sessions change in one iteration.
    func configurationChanged(of session: SessionID) {
        holds.configurationChanged(of: session, sessions[session])
        scheduleReconsideration()
    }

    func forget(_ session: SessionID) -> [EngineEffect] {
        schedulePruning()
        return effects(holds.forget(session))
    }

    /// The holds of an activity that has no task yet: the reasons for which it may not start. Nil if a condition that
    /// the activity needs was not read yet.
    func holdsOfActivity(
        _ constraints: EffectiveConstraints, of session: SessionID
    ) -> (holds: [Hold]?, effects: [EngineEffect]) {
        guard parts.monitor.isRead(constraints.neededAtStart(isLocal: false)) else { return (nil, []) }
        let (effects, isOther) = takeConditions()
        let group = ConstraintGroup(session: session, constraints: .session, networkScope: .uplink)
        let state = GroupState(constraints: constraints, holds: holds.groups[group]?.holds ?? [])
        let present = state.presentHolds(of: group, by: facts(), uplink: holds.uplink)
        return (present, effects + (isOther ? [.reconsider] : []))
    }

    // MARK: Tasks

    func group(of task: StoredTask) -> ConstraintGroup {
        let networkScope = scheduler.networkScope(of: task)
        return ConstraintGroup(session: task.session, constraints: task.constraints, networkScope: networkScope)
    }

    private func group(of task: RunningTask) -> ConstraintGroup {
        let networkScope = scheduler.networkScope(of: task.lane, task.origin)
        return ConstraintGroup(session: task.session, constraints: task.constraints, networkScope: networkScope)
    }

    private var runningGroups: Set<ConstraintGroup> {
        var groups: Set<ConstraintGroup> = []
        running.visit { groups.insert(group(of: $0)) }
        return groups
    }

    private var runningLanes: Set<LaneGroup> {
        var lanes: Set<LaneGroup> = []
        running.visit { lanes.insert(LaneGroup(of: $0)) }
        return lanes
    }

    /// The lane groups with running or ready tasks.
    private var activeLanes: Set<LaneGroup> { runningLanes.union(scheduler.ready.values.map(LaneGroup.init(of:))) }

    func hold(of task: StoredTask) -> Hold? { holds.hold(of: LaneGroup(of: task), in: group(of: task)) }

    /// Whether tasks of the task's lane with the same constraints wait because of a hold.
    func isHeld(_ task: StoredTask) -> Bool { holds.isHeld(LaneGroup(of: task), in: group(of: task)) }

    func add(_ rows: some Sequence<StoredConstraints>) {
        for row in rows { holds.state(row.constraints, as: row.id, in: row.session) }
    }

    /// Notes that the task begins or ends.
    func noteBusy(_ task: StoredTask) { holds.noteBusy(group(of: task), now: runtime.now) }

    /// Notes that the task waits in the store again.
    func returnedToStore(_ task: StoredTask) {
        holds.insertWaiting(task.constraints, in: scheduler.lanes[task.lane] ?? Lane(of: task))
    }

    // MARK: Loads of lanes

    /// Returns the constraints whose tasks the load has to leave out.
    func beginLoad(of lane: LaneID) -> Set<ConstraintsID> {
        scheduler.lanes[lane].map { holds.beginLoad(of: $0) } ?? []
    }

    func endLoad(of lane: LaneID) { holds.endLoad(of: lane) }

    /// Takes the constraints of the tasks that wait in the lane, held or not. Judges their groups if they are new.
    /// `isAll`: whether all tasks that may start were loaded. Returns the constraints whose tasks are held.
    func loaded(
        _ constraints: Set<ConstraintsID>, in id: LaneID, isAll: Bool
    ) -> (held: Set<ConstraintsID>, effects: [EngineEffect]) {
        guard let lane = scheduler.lanes[id] else { return ([], []) }
        var effects = constraints.map { ConstraintGroup($0, in: lane) }.sorted().flatMap(note)
        if holds.isPausingAny { effects += self.effects(holds.beganWaiting(constraints, in: id, facts())) }
        let held = holds.setWaiting(constraints, in: lane, isAll: isAll)
        if !held.isEmpty {
            effects.append(.tasksHeld(of: lane.session))
            // One of the held tasks may start next as a probe.
            if holds.uplink.isHeld || holds.slow.keys.contains(where: { $0.lane == id }) { scheduleReconsideration() }
        }
        effects += self.effects(holds.forgetEmptyGroups(of: lane, running: { runningGroups }))
        if running.isEmpty { schedulePruning() }
        return (held, effects)
    }

    // MARK: Transfers

    /// Notes that the task has received the beginning of a response.
    func responded(_ task: StoredTask) -> [EngineEffect] { attemptEnded(task, .responded) }

    /// Notes what the end of an attempt shows about the uplink.
    func attemptEnded(_ task: StoredTask, _ ending: UplinkWatch.Ending) -> [EngineEffect] {
        guard scheduler.networkScope(of: task) == .uplink else { return [] }
        let hasChanged = holds.attemptEnded(at: task.origin, ending, origins: { activeOrigins }, now: runtime.now)
        return hasChanged ? [.reconsider] : []
    }

    private var activeOrigins: Set<Origin> {
        var origins = Set(scheduler.ready.values.map(\.origin))
        running.visit { origins.insert($0.origin) }
        return origins
    }

    /// Whether tasks such as this one wait because the uplink does not work.
    func isUplinkHeld(for task: StoredTask) -> Bool {
        holds.uplink.isHeld && scheduler.networkScope(of: task) == .uplink
    }

    /// Takes the samples of the last second, and judges the lanes if one became slow or fast.
    func measure(_ samples: [Holds.Sample]) -> [EngineEffect] {
        holds.measure(samples, facts()) ? judgeLanes() : []
    }

    private func judgeLanes() -> [EngineEffect] {
        defer { scheduleCheck() }
        return effects(holds.judgeLanes(facts()))
    }

    // MARK: Probes

    /// If a probe waits for a slot and a slot is free now, starts the probe. The engine calls this function before it
    /// starts ready tasks.
    func takeFreeSlot() -> [EngineEffect] { holds.waitsForSlot ? judgeLanes() : [] }

    /// Makes the next uplink probe due now, because the user has resumed tasks that the uplink holds.
    func probeUplinkNow() -> [EngineEffect] {
        holds.probeUplinkNow(now: runtime.now)
        return [.reconsider]
    }

    func needsProbe(_ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        scheduler.lanes[key.lane].map { holds.needsProbe(key, in: $0, kind) } ?? false
    }

    func probeBegan(_ task: TaskID, _ key: LaneGroup, _ kind: ProbeKind) { holds.probeBegan(task, key, kind) }

    func cancelProbe(_ key: LaneGroup, _ kind: ProbeKind) { holds.cancelProbe(key, kind, now: runtime.now) }

    /// Notes that the task does not run any more. The result of a slow probe may release other lanes.
    func ended(_ task: TaskID, hasResponse: Bool) -> [EngineEffect] {
        holds.ended(task, hasResponse: hasResponse, now: runtime.now) ? judgeLanes() : []
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
        guard timer != nil else { return [] }
        let (running, budgets) = (runningGroups, parts.budgets)
        for group in running { holds.noteBusy(group, now: runtime.now) }
        let active = running.union(scheduler.ready.values.map(group(of:)))
        guard let pruned = holds.prune(running: runningLanes, active: active, now: runtime.now) else { return [] }
        var needs = pruned.needs.union(activityNeeds).union(removalNeeds)
        if parts.budgetDelays.hasDelayed || budgets.readsNetworkUntil != nil { needs.insert(.network) }
        let counted = needs.contains(.network) ? [] : budgets.networkBecameUnknown()
        parts.monitor.setNeeds(needs)
        parts.timeZone.setNeeded(parts.budgetDelays.hasDelayed || holds.dependsOnCalendar)
        scheduleCheck()
        return effects(pruned.actions) + counted
    }

    // MARK: The next check

    /// Starts the timer for the next time at which a reading or a clock may change a judgement.
    func scheduleCheck() {
        let others = [parts.monitor.nextCheck, parts.budgets.readsNetworkUntil].map { $0.map { $0 - runtime.now } }
        let next = holds.untilNextCheck(
            after: reconsideredAt, boot: runtime.now, wall: runtime.clocks.wallMilliseconds,
            others: others + [deadlines.untilNext])
        guard let next else {
            timer?.stop()
            return
        }
        timer?.start(milliseconds: min(next, CalendarWatch.longestCheckInterval))
    }

    private func check() -> [EngineEffect] {
        runtime.clocks.readTimeZone()
        return [.checkCalendar, .checkDeadlines] + conditionsChanged()
    }

    /// Judges all groups again, because the clock or the time zone was set, or because the machine has slept.
    func clockWasSet() -> [EngineEffect] { timer == nil ? [] : check() + [.reevaluateDelayed] }
}
