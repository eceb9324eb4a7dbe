/// Which tasks are held, and why.
///
/// It knows the groups of all tasks that run, are ready, or wait in a lane that was loaded. All decisions are for a
/// whole constraint group or a whole lane group. The functions perform no I/O and read no clock: they get facts, change
/// this value, and return the actions that follow.
public struct Holds: Sendable {
    public typealias Terms = ThroughputWatch<LaneGroup>.Terms

    /// The bytes that a running task transferred in the last second.
    public struct Sample: Sendable {
        public var task: TaskID
        public var key: LaneGroup
        /// The transferred bytes; nil if a rate limit, the disk or a missing response delays the task.
        public var bytes: UInt64?
        /// The time at which the task began to run, by the boot clock.
        public var began: Int64

        public init(task: TaskID, key: LaneGroup, bytes: UInt64?, began: Int64) {
            self.task = task
            self.key = key
            self.bytes = bytes
            self.began = began
        }
    }

    /// The bytes that a running slow probe has transferred, and the time in which it waited only for the network.
    private struct SlowProbe: Sendable {
        var key: LaneGroup
        var bytes: UInt64 = 0
        var milliseconds: Int64 = 0
    }

    /// The shortest delay until the next check, in milliseconds. With this limit, a mistake cannot keep the loop busy.
    static let shortestCheckInterval: Int64 = 20

    public private(set) var groups: [ConstraintGroup: GroupState] = [:]
    /// The lane groups whose throughput is too low.
    public private(set) var slow: [LaneGroup: Hold] = [:]
    public private(set) var uplink = UplinkWatch()
    public private(set) var waiting = WaitingLanes()
    /// The constraints that tasks of the groups, or tasks that were just loaded, state themselves.
    private var stated: [SessionID: [ConstraintsID: TaskConstraints]] = [:]
    /// How long tasks of each group have run. If tasks of a group have run for a while, the group also depends on heat
    /// and sleep.
    private var busy = SustainedActivity<ConstraintGroup>()
    private var throughput = ThroughputWatch<LaneGroup>()
    private var slowProbes: [TaskID: SlowProbe] = [:]
    private var uplinkProbes: Set<TaskID> = []
    /// The lanes for which a probe was chosen, and neither began nor was withdrawn yet.
    private var chosenProbes: Set<LaneID> = []
    /// Whether a probe is due, but the limits on running tasks are reached.
    public private(set) var waitsForSlot = false

    public init() {}

    // MARK: Judging

    /// Judges all groups and lanes by the present facts. The groups come first, because only a lane whose group is not
    /// held may make a slow probe. The probe is chosen before the slow lanes are judged, because their holds mention
    /// it. Uplink probes come last: they need a lane that is not slow.
    public mutating func judge(_ facts: HoldFacts) -> [HoldAction] {
        judge(groups.keys.sorted(), facts) + judgeLanes(facts)
    }

    public mutating func judge(_ keys: [ConstraintGroup], _ facts: HoldFacts) -> [HoldAction] {
        keys.flatMap { group -> [HoldAction] in
            guard let former = groups[group] else { return [] }
            let state = former.judged(group, by: facts, uplink: uplink)
            groups[group] = state
            return state.actions(group, after: former, lanes: Set(waiting.lanes(of: group).map(\.id)))
        }
    }

    /// Judges the slow lanes, and starts the probes that are due. While any lane is paused, also judges each lane with
    /// running or ready tasks. A call starts at most one probe, because a slot is taken only when the probe is loaded:
    /// two probes of one call could take the same slot.
    public mutating func judgeLanes(_ facts: HoldFacts) -> [HoldAction] {
        waitsForSlot = false
        let slowProbe = probeSlowLane(facts)
        let active = isPausingAny ? facts.active : []
        let actions = slowProbe + active.union(slow.keys).sorted().flatMap { judge($0, facts) }
        return slowProbe.isEmpty ? actions + probeUplink(facts) : actions
    }

    /// While any lane is paused, lanes that were not measured may be slow, too: all servers together may be too slow.
    public var isPausingAny: Bool { throughput.isPausingAny }

    private mutating func judge(_ key: LaneGroup, _ facts: HoldFacts) -> [HoldAction] {
        guard facts.lanes[key.lane] != nil else { return [] }
        let former = slow[key]
        slow[key] = throughput.hold(key, terms(of: key, facts), now: facts.boot, unix: facts.wall)
        guard let hold = slow[key] else { return former == nil ? [] : [.endWait(.laneGroup(key)), .load([key.lane])] }
        // If the lane group was already slow, its running probe continues.
        let stop = HoldAction.stop(.laneGroup(key), for: hold.reason, sparesProbe: former != nil)
        if former != nil { return [stop] }
        return [.beginWait(.laneGroup(key), hold, isRecorded: slow.count <= HoldAction.recordLimit), stop]
    }

    /// Takes what the system reports about the network. `isOther`: whether the network has changed since the last
    /// measurements. Returns true if all groups have to be judged again.
    public mutating func networkRead(isOther: Bool, _ connectivity: ConnectivityState?, now: Int64) -> Bool {
        if isOther {
            throughput.networkChanged()
            uplink.networkChanged()
        }
        return uplink.connectivity(connectivity, now: now) || isOther
    }

    // MARK: Groups

    public func statedConstraints(in session: SessionID) -> [ConstraintsID: TaskConstraints] { stated[session] ?? [:] }

    public mutating func state(_ constraints: TaskConstraints, as id: ConstraintsID, in session: SessionID) {
        stated[session, default: [:]][id] = constraints
    }

    /// Adds a group whose tasks run or wait. Returns true if the group is new and has to be judged. A group whose
    /// constraints were not read from the store yet is not added.
    public mutating func add(_ group: ConstraintGroup, _ configuration: SessionConfiguration?) -> Bool {
        guard groups[group] == nil, let constraints = constraints(of: group, configuration) else { return false }
        groups[group] = GroupState(constraints: constraints)
        return true
    }

    private func constraints(
        of group: ConstraintGroup, _ configuration: SessionConfiguration?
    ) -> EffectiveConstraints? {
        guard let configuration else { return nil }
        let stated = group.constraints == .session ? TaskConstraints() : stated[group.session]?[group.constraints]
        return stated.map { EffectiveConstraints(session: configuration.constraints, task: $0) }
    }

    /// Gives the session's groups the constraints of its new configuration. The caller then judges all groups.
    public mutating func configurationChanged(of session: SessionID, _ configuration: SessionConfiguration?) {
        for (group, state) in groups where group.session == session {
            guard let constraints = constraints(of: group, configuration), constraints != state.constraints else {
                continue
            }
            groups[group] = GroupState(constraints: constraints, holds: state.holds)
        }
    }

    /// Forgets a session that was removed.
    public mutating func forget(_ session: SessionID) -> [HoldAction] {
        stated[session] = nil
        waiting.forget(session)
        return forget(groups.keys.filter { $0.session == session })
    }

    private mutating func forget(_ keys: [ConstraintGroup]) -> [HoldAction] {
        keys.sorted().flatMap { group -> [HoldAction] in
            guard let state = groups.removeValue(forKey: group), !state.holds.isEmpty else { return [] }
            return [.endWait(.constraintGroup(group))]
        }
    }

    /// Notes that tasks of this group run. A group that is not noted for some seconds counts as idle.
    public mutating func noteBusy(_ group: ConstraintGroup, now: Int64) { busy.note(group, now: now) }

    /// Forgets groups and slow lanes without tasks, and constraints that no group has. If forgotten constraints are
    /// needed later, they are read again. Returns the conditions on which the remaining groups depend. While lanes are
    /// being loaded, nothing is forgotten, because the loads show which groups have tasks; then returns nil.
    public mutating func prune(
        running: Set<LaneGroup>, active: Set<ConstraintGroup>, now: Int64
    ) -> (needs: ConditionSet, actions: [HoldAction])? {
        if waiting.isLoading { return nil }
        let lasting = busy.sustained(now: now)
        let used = waiting.groups.union(active)
        // If tasks of a group have run for a while and the group is not held, its next tasks may begin soon.
        var actions = forget(groups.keys.filter { !used.contains($0) && !(lasting.contains($0) && isFree($0)) })
        let known = Dictionary(grouping: groups.keys, by: \.session).mapValues { Set($0.map(\.constraints)) }
        stated = stated.reduce(into: [:]) { kept, entry in
            let constraints = entry.value.filter { known[entry.key]?.contains($0.key) == true }
            if !constraints.isEmpty { kept[entry.key] = constraints }
        }
        for key in slow.keys.sorted() where !waiting.contains(key) && !running.contains(key) {
            throughput.forget(key)
            slow[key] = nil
            actions.append(.endWait(.laneGroup(key)))
        }
        return (needs(lasting: lasting), actions)
    }

    private func isFree(_ group: ConstraintGroup) -> Bool { groups[group]?.holds.isEmpty == true }

    private func needs(lasting: Set<ConstraintGroup>) -> ConditionSet {
        // A slow lane is released when the network changes.
        groups.reduce(into: slow.isEmpty ? [] : .network) { needs, entry in
            let (group, state) = entry
            needs.formUnion(state.needed)
            if lasting.contains(group) { needs.formUnion(state.constraints.needs(isLocal: group.isLocal)) }
            for reason in state.reasons { needs.formUnion(reason.needs) }
        }
    }

    /// The conditions that have to be read before these groups are judged. `hasBudgets`: returns whether a budget
    /// limits the session.
    public func needed(_ keys: some Sequence<ConstraintGroup>, hasBudgets: (SessionID) -> Bool) -> ConditionSet {
        keys.reduce(into: []) { needed, group in
            guard let state = groups[group] else { return }
            needed.formUnion(GroupState.needed(group, state.constraints, hasBudgets: hasBudgets(group.session)))
        }
    }

    /// Whether one of these groups is undecided, and can be decided because its conditions are among `read`.
    public func isDecidable(
        _ keys: some Sequence<ConstraintGroup>, read: ConditionSet, hasBudgets: (SessionID) -> Bool
    ) -> Bool {
        keys.contains { group in
            guard let state = groups[group] else { return false }
            let needed = needed([group], hasBudgets: hasBudgets)
            return (state.isUndecided || needed != state.needed) && needed.isSubset(of: read)
        }
    }

    // MARK: Loads

    /// Notes that a load of the lane begins. Returns the constraints whose tasks the load has to leave out.
    public mutating func beginLoad(of lane: Lane) -> Set<ConstraintsID> {
        var held = Set(slow.keys.lazy.filter { $0.lane == lane.id }.map(\.constraints))
        for (group, state) in groups
        where group.session == lane.session && group.networkScope == lane.networkScope && !state.mayStart {
            held.insert(group.constraints)
        }
        waiting.beginLoad(of: lane, leavingOut: held)
        return held
    }

    public mutating func endLoad(of lane: LaneID) { waiting.endLoad(of: lane) }

    /// Notes which constraints the waiting tasks of the lane have. `isAll`: whether all tasks that may start were
    /// loaded. Returns the constraints whose tasks are held.
    public mutating func setWaiting(
        _ constraints: Set<ConstraintsID>, in lane: Lane, isAll: Bool
    ) -> Set<ConstraintsID> {
        let held = constraints.filter {
            groups[ConstraintGroup($0, in: lane)]?.mayStart != true
                || slow[LaneGroup(lane: lane.id, constraints: $0)] != nil
        }
        waiting.set(isAll ? held : constraints, in: lane)
        return held
    }

    /// Judges lane groups whose tasks have begun to wait. The caller checks first that a lane is paused
    /// (`isPausingAny`): only then may these lane groups count as slow, too.
    public mutating func beganWaiting(
        _ constraints: Set<ConstraintsID>, in lane: LaneID, _ facts: HoldFacts
    ) -> [HoldAction] {
        constraints.map { LaneGroup(lane: lane, constraints: $0) }.sorted().flatMap { judge($0, facts) }
    }

    /// Notes that a task returned to the store.
    public mutating func insertWaiting(_ constraints: ConstraintsID, in lane: Lane) {
        waiting.insert(constraints, in: lane)
    }

    /// Forgets held groups without tasks after a load of the lane. If tasks have left such a group, its wait ends
    /// before these tasks start. `prune` may be too late for this, because it waits until all lanes are loaded.
    public mutating func forgetEmptyGroups(of lane: Lane, running: () -> Set<ConstraintGroup>) -> [HoldAction] {
        let empty = groups.filter { group, state in
            !state.holds.isEmpty && group.session == lane.session && group.networkScope == lane.networkScope
                && !waiting.mayWait(group)
        }
        return empty.isEmpty ? [] : forget(Array(Set(empty.keys).subtracting(running())))
    }

    // MARK: The uplink

    /// Notes how an attempt at an origin beyond the uplink ended, or that a response has begun. `origins`: the origins
    /// of the running and ready tasks. Returns true if all groups have to be judged again.
    public mutating func attemptEnded(
        at origin: Origin, _ ending: UplinkWatch.Ending, origins: () -> Set<Origin>, now: Int64
    ) -> Bool {
        if ending == .responded { return uplink.moved(now: now) }
        // If more than two origins are in use, the uplink counts as broken only after three of them have failed. If
        // there are two, both have to fail. If there is only one, its failures are not enough.
        let inUse = uplink.failedOrigins.union(origins()).union(waiting.origins)
        return uplink.take(
            origin, ending, originsInUse: inUse.count { NetworkScope($0) == .uplink }, now: now)
    }

    /// Makes the next uplink probe due now.
    public mutating func probeUplinkNow(now: Int64) { uplink.probeNow(now: now) }

    /// The session's tasks that are held only because the uplink does not work: for each lane, their constraints.
    public func heldByUplink(of session: SessionID) -> [LaneID: Set<ConstraintsID>] {
        guard uplink.isHeld else { return [:] }
        var held: [LaneID: Set<ConstraintsID>] = [:]
        for (group, state) in groups where group.session == session && state.isHeldOnlyByUplink {
            for lane in waiting.lanes(of: group) { held[lane.id, default: []].insert(group.constraints) }
        }
        return held
    }

    // MARK: Slow lanes

    private func terms(of key: LaneGroup, _ facts: HoldFacts) -> Terms? {
        guard let lane = facts.lanes[key.lane], lane.networkScope != .loopback,
            let session = facts.sessions[lane.session],
            let minimum = groups[ConstraintGroup(key.constraints, in: lane)]?.constraints.minimumBytesPerSecond
        else { return nil }
        return .init(
            minimumBytesPerSecond: minimum, slowAfterMilliseconds: session.slowAfterMilliseconds,
            slowPauseMilliseconds: session.slowPauseMilliseconds)
    }

    /// Whether throughput has to be measured.
    public var hasMinimumRate: Bool { groups.contains { $0.value.constraints.minimumBytesPerSecond != nil } }

    /// Takes the samples of the last second. Returns true if lanes have to be judged again.
    public mutating func measure(_ samples: [Sample], _ facts: HoldFacts) -> Bool {
        var bytes: [LaneGroup: UInt64] = [:]
        var mayHaveChanged = false
        for sample in samples {
            if slowProbes[sample.task] != nil {
                if measureProbe(sample, now: facts.boot) { mayHaveChanged = true }
            } else if let moved = sample.bytes,
                facts.boot - sample.began >= ThroughputWatch<LaneGroup>.minimumTransferAge
            {
                bytes[sample.key, default: 0] &+= moved
            }
        }
        let found = bytes.compactMap { key, bytes in
            facts.lanes[key.lane].map {
                ThroughputWatch<LaneGroup>.Sample(key, $0.origin, terms: terms(of: key, facts), bytes: bytes)
            }
        }
        return throughput.take(found, now: facts.boot) || mayHaveChanged
    }

    /// Returns true if the probe has a result.
    private mutating func measureProbe(_ sample: Sample, now: Int64) -> Bool {
        guard var probe = slowProbes[sample.task] else { return false }
        probe.bytes &+= sample.bytes ?? 0
        probe.milliseconds += sample.bytes == nil ? 0 : 1_000
        let isDecided = throughput.probed(probe.key, bytes: probe.bytes, milliseconds: probe.milliseconds, now: now)
        slowProbes[sample.task] = isDecided ? nil : probe
        return isDecided
    }

    // MARK: Probes

    private mutating func probeSlowLane(_ facts: HoldFacts) -> [HoldAction] {
        var candidates: [(lane: LaneGroup, terms: Terms)] = []
        for key in slow.keys.sorted() {
            guard mayProbeSpeed(of: key, facts.lanes[key.lane]), let terms = terms(of: key, facts),
                throughput.permission(key, terms, now: facts.boot) == .probe, hasSlot(facts.lanes[key.lane], facts)
            else { continue }
            candidates.append((key, terms))
        }
        guard let key = throughput.probe(among: candidates, now: facts.boot) else { return [] }
        chosenProbes.insert(key.lane)
        return [.loadProbe(key, .slow)]
    }

    private func mayProbeSpeed(of key: LaneGroup, _ lane: Lane?) -> Bool {
        lane.flatMap { groups[ConstraintGroup(key.constraints, in: $0)] }?.mayStart == true
    }

    private mutating func probeUplink(_ facts: HoldFacts) -> [HoldAction] {
        guard uplink.isHeld, uplink.nextProbe(now: facts.boot) == nil else { return [] }
        var candidates: [Origin: LaneGroup] = [:]
        for group in groups.keys.sorted()
        where group.networkScope == .uplink && groups[group]?.isHeldOnlyByUplink == true {
            for lane in waiting.lanes(of: group) {
                let key = LaneGroup(lane: lane.id, constraints: group.constraints)
                if slow[key] == nil, hasSlot(lane, facts) { candidates[lane.origin] = key }
            }
        }
        guard !candidates.isEmpty,
            let origin = uplink.probe(among: candidates.keys.sorted { $0.text < $1.text }, now: facts.boot),
            let key = candidates[origin]
        else { return [] }
        chosenProbes.insert(key.lane)
        return [.loadProbe(key, .uplink)]
    }

    /// Whether the limits permit a probe of the lane to run. If no slot is free, the probe gets the next slot that
    /// becomes free.
    private mutating func hasSlot(_ lane: Lane?, _ facts: HoldFacts) -> Bool {
        guard let lane, !chosenProbes.contains(lane.id) else { return false }
        if facts.hasSlot(lane) { return true }
        waitsForSlot = true
        return false
    }

    /// Whether the probe is still needed. Since the probe was chosen, the hold may have ended, or another hold may have
    /// begun.
    public func needsProbe(_ key: LaneGroup, in lane: Lane, _ kind: ProbeKind) -> Bool {
        switch kind {
        case .slow: slow[key] != nil && throughput.isProbing(key) && mayProbeSpeed(of: key, lane)
        case .uplink:
            uplink.isHeld && slow[key] == nil
                && groups[ConstraintGroup(key.constraints, in: lane)]?.isHeldOnlyByUplink == true
        }
    }

    public mutating func probeBegan(_ task: TaskID, _ key: LaneGroup, _ kind: ProbeKind) {
        chosenProbes.remove(key.lane)
        switch kind {
        case .slow: slowProbes[task] = SlowProbe(key: key)
        case .uplink: uplinkProbes.insert(task)
        }
    }

    /// Withdraws a probe that cannot start.
    public mutating func cancelProbe(_ key: LaneGroup, _ kind: ProbeKind, now: Int64) {
        chosenProbes.remove(key.lane)
        switch kind {
        case .slow: throughput.cancelProbe(key, now: now)
        case .uplink: uplink.cancelProbe(now: now)
        }
    }

    public func isProbe(_ task: TaskID) -> Bool { uplinkProbes.contains(task) || slowProbes[task] != nil }

    /// Notes that the task does not run any more. If the task was a probe, ends the probe. Returns true if lanes have
    /// to be judged again.
    public mutating func ended(_ task: TaskID, hasResponse: Bool, now: Int64) -> Bool {
        uplinkProbes.remove(task)
        guard let probe = slowProbes.removeValue(forKey: task) else { return false }
        return throughput.endProbe(probe.key, hasResponse: hasResponse, now: now)
    }

    // MARK: State

    /// The first hold of a task. The hold of its constraint group comes before the hold of its lane.
    public func hold(of key: LaneGroup, in group: ConstraintGroup) -> Hold? { groups[group]?.holds.first ?? slow[key] }

    /// Whether tasks of the lane group wait because the constraint group is held or the lane is slow.
    public func isHeld(_ key: LaneGroup, in group: ConstraintGroup) -> Bool {
        waiting.contains(key) && hold(of: key, in: group) != nil
    }

    /// The lanes that must not be forgotten.
    public var lanesInUse: Set<LaneID> {
        waiting.ids.union(chosenProbes).union(slow.keys.map(\.lane))
    }

    /// Whether there is a group that has a budget and is not held by a budget yet.
    public var hasTasksWithinBudgets: Bool {
        groups.values.contains { $0.hasBudgets && !$0.reasons.contains(.budget) }
    }

    public var dependsOnCalendar: Bool {
        groups.values.contains { $0.hasBudgets || $0.constraints.quietHours != nil }
    }

    /// The milliseconds until a clock may change a decision; nil if no decision depends on a clock. `judged`: the time
    /// of the last judgement. A probe may have become due since then. `others`: the milliseconds until other checks.
    public func untilNextCheck(after judged: Int64, boot: Int64, wall: Int64, others: [Int64?]) -> Int64? {
        let bootTimes = [throughput.nextProbe(now: judged), uplink.nextProbe(now: judged), busy.nextEnd]
        let wallTimes = groups.values.map(\.nextChange)
        let waits = bootTimes.map { $0.map { $0 - boot } } + wallTimes.map { $0.map { $0 - wall } } + others
        return waits.compactMap(\.self).min().map { max(Self.shortestCheckInterval, $0) }
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
    public var isOfNetwork: Bool {
        switch self {
        case .metered, .network, .budget, .portal: true
        default: false
        }
    }
}
