internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Decides which tasks are held (may not run), and knows the reasons (holds). Each decision is for a whole group of
/// tasks: a constraint group or a slow lane. To *load* a lane is to read its next tasks from the store.
///
/// Each engine has one object of this type. It knows the groups of all tasks that run, are ready, or wait in a lane
/// that was loaded. A *ready* task is in memory, and waits for the right to run. The controller's decisions depend on
/// constraints, conditions, budgets, the uplink (the route to other networks) and the time.
final class HoldController {
    /// The largest number of wait records (database rows that say why tasks wait) for one hold. The store keeps the
    /// newest 1,000 records of a session, and a hold of many lanes must not evict all other records.
    private static let recordLimit = 64

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let monitor: ConditionsMonitor
    private let budgets: BudgetAccounting
    private let uplink: UplinkMonitor
    private let journal: WaitJournal
    /// The stored constraints of the groups, and of tasks that were just loaded. The keys are the session and the id of
    /// the constraints.
    private var stated: [SessionID: [ConstraintsID: TaskConstraints]] = [:]
    private(set) var groups: [ConstraintGroup: GroupState] = [:]
    /// The lane groups (tasks of a lane with the same constraints) whose throughput is too low.
    private(set) var slow: [LaneGroup: Held] = [:]
    /// For each lane: the constraints of tasks that wait in the store and are not loaded.
    private var waiting: [LaneID: Set<ConstraintsID>] = [:]
    /// For each lane that is being loaded: the constraints whose tasks the load leaves out.
    private var loading: [LaneID: Set<ConstraintsID>] = [:]
    /// How long tasks of each group have run. If tasks of a group have run for a while, the group also depends on heat
    /// and sleep.
    private var busy = SustainedActivity<ConstraintGroup>()

    init(
        _ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ monitor: ConditionsMonitor,
        _ budgets: BudgetAccounting, _ uplink: UplinkMonitor, _ journal: WaitJournal
    ) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.monitor = monitor
        self.budgets = budgets
        self.uplink = uplink
        self.journal = journal
    }

    // MARK: Groups

    func group(of task: StoredTask) -> ConstraintGroup {
        ConstraintGroup(
            session: task.session, constraints: task.constraints, networkScope: scheduler.networkScope(of: task))
    }

    func group(of task: RunningTask) -> ConstraintGroup {
        let networkScope = scheduler.networkScope(of: task.lane, task.origin)
        return ConstraintGroup(session: task.session, constraints: task.constraints, networkScope: networkScope)
    }

    func group(_ constraints: ConstraintsID, in lane: Lane) -> ConstraintGroup {
        ConstraintGroup(session: lane.session, constraints: constraints, networkScope: lane.networkScope)
    }

    func stated(in session: SessionID) -> [ConstraintsID: TaskConstraints] { stated[session] ?? [:] }

    func add(_ rows: some Sequence<StoredConstraints>) {
        for row in rows { stated[row.session, default: [:]][row.id] = row.constraints }
    }

    /// Adds a group whose tasks run or wait. Returns true when the group is new and has to be judged.
    func add(_ group: ConstraintGroup) -> Bool {
        guard groups[group] == nil, let constraints = effectiveConstraints(of: group) else { return false }
        groups[group] = GroupState(constraints: constraints)
        return true
    }

    /// The constraints of the group; nil if they were not read from the store yet.
    private func effectiveConstraints(of group: ConstraintGroup) -> EffectiveConstraints? {
        guard let configuration = sessions[group.session] else { return nil }
        let stated = group.constraints == .session ? TaskConstraints() : stated[group.session]?[group.constraints]
        return stated.map { EffectiveConstraints(session: configuration.constraints, task: $0) }
    }

    /// Gives the session's groups the constraints of its new configuration. The next `decide` judges these groups.
    func configurationChanged(of session: SessionID) {
        for (group, state) in groups where group.session == session {
            guard let constraints = effectiveConstraints(of: group), constraints != state.constraints else { continue }
            var changed = GroupState(constraints: constraints)
            changed.held = state.held
            groups[group] = changed
        }
    }

    /// Forgets a session that was removed.
    func forget(_ session: SessionID) {
        stated[session] = nil
        for group in groups.keys where group.session == session { forget(group) }
        for lane in scheduler.lanes(of: session) { waiting[lane.id] = nil }
    }

    /// Notes that the task's group is busy now, because the task begins or ends.
    func noteBusy(_ task: StoredTask) { busy.note(group(of: task), now: runtime.now) }

    /// Notes that tasks of these groups run. A group that is not noted for some seconds counts as idle.
    func noteBusy(_ running: Set<ConstraintGroup>) { for group in running { busy.note(group, now: runtime.now) } }

    /// The next time at which a busy group will count as idle, by the boot clock. Only groups whose tasks have run for
    /// a while have such a time.
    var nextIdle: Int64? { busy.nextEnd }

    /// Forgets groups without tasks, and constraints that no group has. If forgotten constraints are needed later, they
    /// are read again. Returns the groups whose tasks have run for a while.
    func prune(running: Set<ConstraintGroup>) -> Set<ConstraintGroup> {
        let lasting = busy.sustained(now: runtime.now)
        var alive = waitingGroups.union(running)
        for task in scheduler.ready.values { alive.insert(group(of: task)) }
        // If tasks of a group have run for a while and the group is not held, its next tasks may begin soon. So such a
        // group is kept.
        for group in lasting where groups[group]?.held == nil { alive.insert(group) }
        for group in groups.keys where !alive.contains(group) { forget(group) }
        forgetUnusedConstraints()
        return lasting
    }

    private func forgetUnusedConstraints() {
        guard !stated.isEmpty else { return }
        var used: [SessionID: Set<ConstraintsID>] = [:]
        for group in groups.keys { used[group.session, default: []].insert(group.constraints) }
        for (session, known) in stated {
            let kept = known.filter { used[session]?.contains($0.key) == true }
            stated[session] = kept.isEmpty ? nil : kept
        }
    }

    private func forget(_ group: ConstraintGroup) {
        guard let state = groups.removeValue(forKey: group) else { return }
        if let held = state.held { journal.end(held.rows) }
    }

    // MARK: Judging

    /// Finds the conditions that have to be read before these groups are judged, and adds them to the monitor's needs.
    /// Returns true when an undecided group can be judged now.
    func prepare(_ keys: [ConstraintGroup]) -> Bool {
        var isDecidable = false
        for group in keys {
            guard let state = groups[group] else { continue }
            let needed = neededAtStart(group, state.constraints)
            if needed != state.needed {
                groups[group]?.needed = needed
                groups[group]?.isUndecided = true
                monitor.need(needed)
            }
            if groups[group]?.isUndecided == true, monitor.isRead(needed) { isDecidable = true }
        }
        return isDecidable
    }

    private func neededAtStart(_ group: ConstraintGroup, _ constraints: EffectiveConstraints) -> ConditionSet {
        var needs = constraints.neededAtStart(isLocal: group.isLocal)
        // How many bytes of a budget are left depends on the network.
        if !group.isLocal, budgets.hasBudgets(group.session) { needs.insert(.network) }
        return needs
    }

    /// Judges these groups by the present facts. If a group becomes held, its running tasks stop.
    func decide(_ keys: [ConstraintGroup]) -> [EngineEffect] { keys.flatMap(decide) }

    private func decide(_ group: ConstraintGroup) -> [EngineEffect] {
        guard var state = groups[group] else { return [] }
        let wasUndecided = state.isUndecided
        guard monitor.isRead(state.needed) else {
            // Until all needed conditions are read, the group's running tasks continue, and its other tasks do not
            // start.
            groups[group]?.isUndecided = true
            if !wasUndecided { unload(.constraintGroup(group)) }
            return []
        }
        state.isUndecided = false
        let now = runtime.clocks.wallMilliseconds
        state.decidedAt = now
        let holds = holds(state.constraints, group, at: now)
        let before = state.held
        guard let first = holds.first else {
            state.held = nil
            groups[group] = state
            if let before { journal.end(before.rows) }
            return before != nil || wasUndecided ? release(group) : []
        }
        var held = before ?? Held(holds: holds, began: now, rows: [])
        if before == nil || before?.first?.reason != first.reason {
            journal.end(held.rows)
            (held.rows, held.began) = begin(group, first)
        }
        held.holds = holds
        state.held = held
        groups[group] = state
        // A probe (a task that runs to test whether a hold is over) tests one reason. If another reason begins to hold
        // the group, the probe stops.
        let isNew = before.map { !held.reasons.isSubset(of: $0.reasons) } ?? true
        guard isNew else { return [] }
        return [.tasksHeld(of: group.session)] + stop(.constraintGroup(group), for: first.reason)
    }

    private func holds(_ constraints: EffectiveConstraints, _ group: ConstraintGroup, at now: Int64) -> [Hold] {
        var holds = DeferralDecision.holds(constraints, monitor.conditions, facts(of: group, at: now))
        guard group.networkScope == .uplink, !holds.contains(where: { $0.reason == .portal }) else { return holds }
        if let hold = uplink.hold(unix: now) { holds.append(hold) }
        return holds
    }

    /// The holds of an activity that has no task yet. The caller has checked that the needed conditions were read.
    func holds(_ constraints: EffectiveConstraints, of session: SessionID) -> [Hold] {
        let group = ConstraintGroup(session: session, constraints: .session, networkScope: .uplink)
        return holds(constraints, group, at: runtime.clocks.wallMilliseconds)
    }

    /// - now: Unix milliseconds.
    private func facts(of group: ConstraintGroup, at now: Int64) -> DeferralFacts {
        let clocks = runtime.clocks
        return DeferralFacts(
            now: now, bootMilliseconds: runtime.now,
            localOffsetMilliseconds: { clocks.localOffsetMilliseconds(at: $0) },
            isLocal: group.isLocal, needsNoUplink: group.networkScope == .localNetwork, isUplinkProven: uplink.isProven,
            held: groups[group]?.held?.reasons ?? [],
            budgets: group.isLocal ? [] : budgets.budgets(of: group.session, at: now))
    }

    /// The next time at which the wall clock changes a judgement, in Unix milliseconds. The time is computed from each
    /// group's last judgement, so that no change after this judgement is missed.
    var nextChange: Int64? {
        let now = runtime.clocks.wallMilliseconds
        return groups.compactMap { group, state in
            DeferralDecision.nextChange(state.constraints, facts(of: group, at: state.decidedAt ?? now))
        }.min()
    }

    /// Begins the wait records of a hold. Each held lane gets its own record if three conditions are met: the reason
    /// depends on the network, the hold does not affect all lanes of the session, and it affects at most `recordLimit`
    /// lanes. Any other hold gets one record for the whole session.
    private func begin(_ group: ConstraintGroup, _ hold: Hold) -> (rows: [WaitRow], began: Int64) {
        let mine = scheduler.lanes(of: group.session)
        let ofGroup = mine.filter { $0.networkScope == group.networkScope }
        guard hold.reason.isOfNetwork, ofGroup.count < mine.count, ofGroup.count <= Self.recordLimit else {
            let (row, began) = journal.begin(WaitScope(group.session, constraints: group.constraints), hold)
            return ([row], began)
        }
        let begun = ofGroup.map {
            journal.begin(WaitScope(group.session, constraints: group.constraints, lane: $0.id), hold)
        }
        return (begun.map(\.row), begun.map(\.began).min() ?? runtime.clocks.wallMilliseconds)
    }

    private func release(_ group: ConstraintGroup) -> [EngineEffect] {
        [.tasksWait(in: lanes(of: group), reload: true)]
    }

    // MARK: Slow lanes

    /// Sets the hold of a slow lane group. Nil ends the hold, because the group is fast enough.
    func setSlow(_ key: LaneGroup, _ hold: Hold?) -> [EngineEffect] {
        guard let hold else {
            guard let held = slow.removeValue(forKey: key) else { return [] }
            journal.end(held.rows)
            return [.tasksWait(in: [key.lane], reload: true)]
        }
        guard slow[key] == nil else {
            slow[key]?.holds = [hold]
            return [.deferTasks(.laneGroup(key, excludesProbes: true), for: hold.reason)]
        }
        var held = Held(holds: [hold], began: runtime.clocks.wallMilliseconds, rows: [])
        if slow.count < Self.recordLimit, let lane = scheduler.lanes[key.lane] {
            let scope = WaitScope(lane.session, constraints: key.constraints, lane: key.lane)
            let (row, began) = journal.begin(scope, hold)
            (held.rows, held.began) = ([row], began)
        }
        slow[key] = held
        return stop(.laneGroup(key, excludesProbes: false), for: hold.reason)
    }

    func forgetSlow(_ key: LaneGroup) {
        if let held = slow.removeValue(forKey: key) { journal.end(held.rows) }
    }

    // MARK: Tasks that wait in the store

    /// Drops the ready tasks, which then wait in the store, and stops the running tasks.
    private func stop(_ tasks: HeldTasks, for reason: WaitReason) -> [EngineEffect] {
        unload(tasks)
        return [.deferTasks(tasks, for: reason)]
    }

    private func unload(_ tasks: HeldTasks) {
        for task in scheduler.drop(where: { contains(tasks, $0) }) { recordWaiting(task) }
    }

    func contains(_ tasks: HeldTasks, _ task: StoredTask) -> Bool {
        switch tasks {
        case .constraintGroup(let group): self.group(of: task) == group
        case .laneGroup(let key, _): LaneGroup(of: task) == key
        }
    }

    func recordWaiting(_ task: StoredTask) { waiting[task.lane, default: []].insert(task.constraints) }

    /// Notes that a load of the lane begins. Returns the constraints whose tasks the load has to leave out.
    func beginLoad(of lane: LaneID) -> Set<ConstraintsID> {
        let held = scheduler.lanes[lane].map(heldConstraints) ?? []
        loading[lane] = held
        return held
    }

    func endLoad(of lane: LaneID) { loading[lane] = nil }

    /// Sets the constraints of tasks that wait in the lane. `isAll`: whether all tasks that may start were loaded.
    /// Returns the constraints that are held.
    func setWaiting(_ constraints: Set<ConstraintsID>, in lane: Lane, isAll: Bool) -> Set<ConstraintsID> {
        let held = constraints.filter { !mayStart(LaneGroup(lane: lane.id, constraints: $0), lane) }
        let waits = isAll ? held : constraints
        waiting[lane.id] = waits.isEmpty ? nil : waits
        return held
    }

    /// Forgets held groups without tasks. This function is called after a load of the lane. If tasks have left such a
    /// group, the group's wait record has to end before these tasks start. `prune` may be too late for this, because it
    /// waits until all lanes are loaded.
    func forgetEmptyGroups(of lane: Lane, _ running: any RunningTasks) {
        let emptyGroups = groups.filter { group, state in
            state.held != nil && group.session == lane.session && group.networkScope == lane.networkScope
                && !mayWait(group)
        }
        guard !emptyGroups.isEmpty else { return }
        var inUse: Set<ConstraintGroup> = []
        running.visit { inUse.insert(group(of: $0)) }
        for group in emptyGroups.keys where !inUse.contains(group) { forget(group) }
    }

    private func heldConstraints(of lane: Lane) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        for (group, state) in groups
        where group.session == lane.session && group.networkScope == lane.networkScope && !state.mayStart {
            found.insert(group.constraints)
        }
        for key in slow.keys where key.lane == lane.id { found.insert(key.constraints) }
        return found
    }

    private func mayStart(_ key: LaneGroup, _ lane: Lane) -> Bool {
        groups[group(key.constraints, in: lane)]?.mayStart == true && slow[key] == nil
    }

    // MARK: State

    /// The first hold of a task. The hold of its constraint group comes before the hold of its lane.
    func hold(of key: LaneGroup, in group: ConstraintGroup) -> Hold? { (groups[group]?.held ?? slow[key])?.first }

    func state(of key: LaneGroup) -> GroupState? {
        scheduler.lanes[key.lane].flatMap { groups[group(key.constraints, in: $0)] }
    }

    /// The lanes in which tasks of the group wait, or may wait.
    func lanes(of group: ConstraintGroup) -> Set<LaneID> {
        Set(waiting.keys).union(loading.keys).filter { mayWait(group, in: $0) }
    }

    private func mayWait(_ group: ConstraintGroup) -> Bool {
        waiting.keys.contains { mayWait(group, in: $0) } || loading.keys.contains { mayWait(group, in: $0) }
    }

    private func mayWait(_ group: ConstraintGroup, in id: LaneID) -> Bool {
        let isMeant = { (constraints: Set<ConstraintsID>?) in constraints?.contains(group.constraints) == true }
        guard let lane = scheduler.lanes[id], isMeant(waiting[id]) || isMeant(loading[id]) else { return false }
        return lane.session == group.session && lane.networkScope == group.networkScope
    }

    /// Whether tasks of the lane group wait because the constraint group is held or the lane is slow.
    func isHeld(_ key: LaneGroup, in group: ConstraintGroup) -> Bool {
        waits(key) && (slow[key] != nil || groups[group]?.held != nil)
    }

    func waits(_ key: LaneGroup) -> Bool { waiting[key.lane]?.contains(key.constraints) == true }

    var waitingLanes: Dictionary<LaneID, Set<ConstraintsID>>.Keys { waiting.keys }

    /// The groups of tasks that wait in the store.
    private var waitingGroups: Set<ConstraintGroup> {
        var found: Set<ConstraintGroup> = []
        for (id, constraints) in waiting {
            guard let lane = scheduler.lanes[id] else { continue }
            for number in constraints { found.insert(group(number, in: lane)) }
        }
        return found
    }

    /// Whether lanes are being loaded. The results of the loads show which groups have waiting tasks.
    var isLoading: Bool { !loading.isEmpty }

    var lanesInUse: Set<LaneID> { Set(waiting.keys).union(loading.keys).union(slow.keys.map(\.lane)) }

    /// The sessions with tasks that may not start.
    var heldSessions: Set<SessionID> {
        Set(groups.lazy.filter { !$0.value.mayStart }.map(\.key.session))
            .union(slow.keys.compactMap { scheduler.lanes[$0.lane]?.session })
    }

    /// Whether there is a group that has a budget and is not held by a budget yet.
    var hasTasksWithinBudgets: Bool {
        groups.contains { group, state in
            !group.isLocal && budgets.hasBudgets(group.session) && state.held?.reasons.contains(.budget) != true
        }
    }

    var dependsOnCalendar: Bool {
        groups.contains { group, state in
            state.constraints.quietHours != nil || budgets.hasBudgets(group.session)
        }
    }

    var hasMinimumRate: Bool { groups.contains { $0.value.constraints.minimumBytesPerSecond != nil } }

    /// The conditions that the groups depend on. `lasting`: groups whose transfers have run for a while.
    func needs(lasting: Set<ConstraintGroup>) -> ConditionSet {
        // A slow lane is released when the network changes.
        groups.reduce(into: slow.isEmpty ? [] : .network) { needs, entry in
            let (group, state) = entry
            needs.formUnion(state.needed)
            if lasting.contains(group) { needs.formUnion(state.constraints.needs(isLocal: group.isLocal)) }
            for reason in state.held?.reasons ?? [] { needs.formUnion(reason.needs) }
        }
    }
}

extension WaitReason {
    /// The conditions that show when the reason is over.
    fileprivate var needs: ConditionSet {
        switch self {
        case .power, .battery: .power
        case .heat: .heat
        case .metered, .network, .budget, .portal: .network
        case .sleep: .sleep
        // If pressure holds a group, the group's constraints already need the conditions of pressure. The other reasons
        // to hold a group, such as quiet hours, depend on no condition.
        default: []
        }
    }

    /// Whether the reason depends on the network. Such a reason does not hold transfers from servers on this machine.
    fileprivate var isOfNetwork: Bool {
        switch self {
        case .metered, .network, .budget, .portal: true
        default: false
        }
    }
}
