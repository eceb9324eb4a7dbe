internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What a task is to find out that is started although its group is held.
enum ProbeKind: Equatable {
    /// Whether a slow lane is faster now.
    case slow
    /// Whether the uplink works.
    case uplink
}

/// Starts one held task to find out whether its hold is over. A probe skips its queue but obeys the limits.
///
/// One for each loop.
final class ProbeController {
    private let runtime: any Runtime
    private let scheduler: TaskScheduler
    private let calendar: CalendarWatch
    private let holds: HoldController
    private let throughput: ThroughputController
    private let uplink: UplinkMonitor
    private let running: any RunningTasks
    private let hasRoom: () -> Bool
    /// Lanes of which a probe is being loaded.
    private var loading: Set<LaneID> = []
    /// A probe is due, and no slot is free.
    private var waitsForSlot = false
    /// Running probes of the uplink.
    private var uplinkProbes: Set<TaskID> = []

    /// - hasRoom: whether another task may start.
    init(
        _ runtime: any Runtime, _ scheduler: TaskScheduler, _ calendar: CalendarWatch, _ holds: HoldController,
        _ throughput: ThroughputController, _ uplink: UplinkMonitor, _ running: any RunningTasks,
        hasRoom: @escaping () -> Bool
    ) {
        self.runtime = runtime
        self.scheduler = scheduler
        self.calendar = calendar
        self.holds = holds
        self.throughput = throughput
        self.uplink = uplink
        self.running = running
        self.hasRoom = hasRoom
    }

    var lanesInUse: Set<LaneID> { loading }

    // MARK: Choosing

    /// Judges slow lanes, and starts a probe of one when it is time.
    func reconsiderThroughput() -> [EngineEffect] {
        probeThroughput()
        return throughput.reconsider() + [.planLook]
    }

    /// Returns true when a probe is being loaded.
    @discardableResult
    private func probeThroughput() -> Bool {
        guard let key = throughput.probe(among: throughput.candidates.filter(hasSlot)) else { return false }
        load(key, .slow)
        return true
    }

    func probeUplink() {
        guard uplink.mayProbe else { return }
        var candidates: [Origin: LaneGroup] = [:]
        for (group, state) in holds.groups where group.reach == .uplink && state.isHeldByUplinkAlone {
            for lane in holds.lanes(of: group) {
                let key = LaneGroup(lane: lane, constraints: group.constraints)
                guard let origin = scheduler.lanes[lane]?.origin, holds.slow[key] == nil, hasSlot(key) else { continue }
                candidates[origin] = key
            }
        }
        guard !candidates.isEmpty, let origin = uplink.probe(among: Array(candidates.keys)) else { return }
        if let key = candidates[origin] { load(key, .uplink) }
    }

    /// Tasks of the session that a probe of the uplink would release.
    func heldByUplink(of session: SessionID) -> [LaneID: Set<ConstraintsID>] {
        guard uplink.isHeld else { return [:] }
        var held: [LaneID: Set<ConstraintsID>] = [:]
        for (group, state) in holds.groups where group.session == session && state.isHeldByUplinkAlone {
            for lane in holds.lanes(of: group) { held[lane, default: []].insert(group.constraints) }
        }
        return held
    }

    /// If no slot is free, the probe gets the next one.
    private func hasSlot(_ key: LaneGroup) -> Bool {
        guard let lane = scheduler.lanes[key.lane], !loading.contains(key.lane) else { return false }
        if hasRoom(), scheduler.hasSlot(lane) { return true }
        waitsForSlot = true
        return false
    }

    /// Slots may be free. Called before ready tasks start.
    func takeFreeSlot() -> [EngineEffect] {
        guard waitsForSlot else { return [] }
        waitsForSlot = false
        let effects = probeThroughput() ? throughput.reconsider() + [.planLook] : []
        probeUplink()
        return effects
    }

    // MARK: Starting

    /// Loads the first waiting task of the lane group. It holds a slot meanwhile.
    private func load(_ key: LaneGroup, _ kind: ProbeKind) {
        guard let lane = scheduler.lanes[key.lane] else { return giveBack(key, kind) }
        loading.insert(key.lane)
        scheduler.takeSlot(lane)
        var known: Set<TaskID> = []
        running.visit { if $0.lane == key.lane { known.insert($0.id) } }
        let calendar = calendar.milliseconds
        runtime.store({ [known] (transaction) throws(Failure) -> (task: StoredTask?, nextDue: Int64?) in
            let first = try transaction.lanes.firstWaitingTask(of: key.lane, stating: key.constraints, notIn: known)
            guard let first else { return (nil, nil) }
            let task = try transaction.starts.startable([first], StartClock(calendar: calendar)).first
            return (task, task == nil ? try transaction.delays.nextDue() : nil)
        }, then: { [unowned self] result in
            loading.remove(key.lane)
            guard case .success(let found) = result else { return notStarted(key, kind) }
            guard let task = found.task else { return [.due(at: found.nextDue)] + notStarted(key, kind) }
            return [.startProbe(task, key, kind)]
        })
    }

    /// The probe cannot start. Its slot is released, and tasks that wait there are loaded again.
    func notStarted(_ key: LaneGroup, _ kind: ProbeKind) -> [EngineEffect] {
        scheduler.released(key.lane)
        giveBack(key, kind)
        return [.tasksWait(in: [key.lane], reload: false), .planLook]
    }

    private func giveBack(_ key: LaneGroup, _ kind: ProbeKind) {
        switch kind {
        case .slow: throughput.giveBackProbe(of: key)
        case .uplink: uplink.giveBackProbe()
        }
    }

    /// The hold may be over since the probe was chosen, or another reason may hold the task too.
    func isStillToProbe(_ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        switch kind {
        case .slow: throughput.isStillToProbe(key)
        case .uplink: uplink.isHeld && holds.slow[key] == nil && holds.state(of: key)?.isHeldByUplinkAlone == true
        }
    }

    func began(_ task: TaskID, _ key: LaneGroup, _ kind: ProbeKind) {
        switch kind {
        case .slow: throughput.probeBegan(task, of: key)
        case .uplink: uplinkProbes.insert(task)
        }
    }

    func isProbe(_ task: TaskID) -> Bool { uplinkProbes.contains(task) || throughput.isProbe(task) }

    /// The task runs no more.
    func ended(_ task: TaskID, hasAnswered: Bool) -> [EngineEffect] {
        uplinkProbes.remove(task)
        return throughput.ended(task, hasAnswered: hasAnswered) ? reconsiderThroughput() : []
    }
}
