internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What the engine knows of the conditions, and which tasks are held back by them. What depends on them is read, and
/// nothing else: the classes here are those of tasks that run or are ready to, or that would be.
struct Deferral {
    /// By session and number, as the store has them. Those of the classes, and of tasks that have just been loaded.
    var stated: [SessionID: [ConstraintsID: TaskConstraints]] = [:]
    var classes: [TaskClass: ClassState] = [:]
    /// Since when tasks of a class run: what lasts depends on heat and sleep, too, and nothing is read for what does
    /// not.
    var busy = BusySpans<TaskClass>()
    /// Constraints of tasks that wait in the store and are not loaded, as of the last look at each lane.
    var waiting: [LaneID: Set<ConstraintsID>] = [:]
    /// What was left out by the loads that are under way.
    var loading: [LaneID: Set<ConstraintsID>] = [:]
    var timer: LoopTimer?
    var throughput = ThroughputWatch<LaneClass>()
    /// From which too little comes.
    var slow: [LaneClass: Held] = [:]
    var uplink = UplinkWatch()
    /// Lanes of which a task is being loaded that finds something out.
    var probing: Set<LaneID> = []
    /// One could be made, but the limits leave it no turn.
    var probesWaitForTurn = false
    /// When the next task stops waiting for wishes, in Unix milliseconds.
    var latestStart: Int64?
    /// When the time of the next task of a session with held ones is over, by the calendar of the rows' ages.
    var endsOfTime: [SessionID: Int64] = [:]
    var endsToFind: Set<SessionID> = []
    /// Tasks that are too large for what is left of a budget.
    var delayedRows: [TaskID: WaitRow] = [:]
    /// An earlier engine may have left some.
    var mayHaveDelayed = true
    /// This one has found some. They depend on the network, too, though their classes may be forgotten.
    var hasDelayed = false
    var isJudgingDelayed = false
    /// What they are judged by has changed meanwhile.
    var judgesDelayedAgain = false
    var isPruningPlanned = false
    var isReconsideringPlanned = false
    /// When all was decided anew last, by the boot clock.
    var reconsideredAt: Int64 = 0
    var timeZone: (zone: TimeZoneWatch, watch: Watch)?
    var sleepTimer: LoopTimer?
    /// The system was told that it need not wait for us.
    var isReadyToSleep = false

    /// Which conditions something depends on now. `lasting`: classes whose transfers have run for a while.
    /// `activityNeeds`: of work that is no task yet.
    func needs(lasting: Set<TaskClass>, activityNeeds: ConditionNeeds) -> ConditionNeeds {
        // What was slow goes on when there is another network.
        let others = slow.isEmpty && !hasDelayed ? activityNeeds : activityNeeds.union(.network)
        return classes.reduce(into: others) { needs, entry in
            let (key, state) = entry
            needs.formUnion(
                lasting.contains(key)
                    ? state.needed.union(state.constraints.needs(isLocal: key.isLocal)) : state.needed)
            for reason in state.held?.reasons ?? [] { needs.formUnion(reason.needs) }
        }
    }

    var lanesInUse: Set<LaneID> {
        Set(waiting.keys).union(loading.keys).union(probing).union(slow.keys.map(\.lane))
    }

    /// Nothing may of which it is not known.
    func mayStart(_ key: LaneClass, _ lane: Lane) -> Bool {
        let task = TaskClass(session: lane.session, constraints: key.constraints, reach: lane.reach)
        return classes[task]?.mayStart == true && slow[key] == nil
    }

    /// Constraints of which tasks of this lane are held.
    func leftOut(of lane: Lane) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        for (key, state) in classes where key.session == lane.session && key.reach == lane.reach && !state.mayStart {
            found.insert(key.constraints)
        }
        for key in slow.keys where key.lane == lane.id { found.insert(key.constraints) }
        return found
    }

    /// Lanes in which tasks of the class wait, or may do.
    func lanes(of key: TaskClass, among lanes: [LaneID: Lane]) -> Set<LaneID> {
        var found: Set<LaneID> = []
        for (lane, constraints) in waiting where constraints.contains(key.constraints) { found.insert(lane) }
        for (lane, constraints) in loading where constraints.contains(key.constraints) { found.insert(lane) }
        return found.filter { id in
            lanes[id].map { $0.session == key.session && $0.reach == key.reach } ?? false
        }
    }

    /// Nil: what they state was not read.
    func constraints(of key: TaskClass, _ session: SessionConfiguration) -> EffectiveConstraints? {
        let stated = key.constraints == .session ? TaskConstraints() : stated[key.session]?[key.constraints]
        return stated.map { EffectiveConstraints(session: session.constraints, task: $0) }
    }

    /// What is stated by no task here is read again when it is met.
    mutating func forgetStated() {
        guard !stated.isEmpty else { return }
        var used: [SessionID: Set<ConstraintsID>] = [:]
        for key in classes.keys { used[key.session, default: []].insert(key.constraints) }
        for (session, known) in stated {
            let kept = known.filter { used[session]?.contains($0.key) == true }
            stated[session] = kept.isEmpty ? nil : kept
        }
    }
}

extension WaitReason {
    /// What tells when it is over.
    fileprivate var needs: ConditionNeeds {
        switch self {
        case .power, .battery: .power
        case .heat: .heat
        case .metered, .network, .budget, .portal: .network
        case .sleep: .sleep
        // What can be under pressure is what the constraints say.
        default: []
        }
    }
}
