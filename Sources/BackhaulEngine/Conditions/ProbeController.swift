internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What a probe tests. A probe is a held task (it waits for a condition) that is started as a test.
enum ProbeKind: Equatable {
    /// A slow probe tests whether a slow lane is faster now.
    case slow
    /// An uplink probe tests whether the uplink (the route from the local network to other networks) works.
    case uplink
}

/// Starts one held task to test whether its hold is over. Such a task (a probe) skips its queue but obeys the limits.
///
/// Each engine has one object of this type.
final class ProbeController {
    private let runtime: any Runtime
    private let scheduler: TaskScheduler
    private let calendar: CalendarWatch
    private let holds: HoldController
    private let throughput: ThroughputController
    private let uplink: UplinkMonitor
    private let running: any RunningTasks
    private let hasCapacity: () -> Bool
    /// The lanes whose probe is being read from the store.
    private var loading: Set<LaneID> = []
    /// Whether a probe is due, but has no slot, because the limits on running tasks are reached.
    private var waitsForSlot = false
    /// The running uplink probes.
    private var uplinkProbes: Set<TaskID> = []

    /// - hasCapacity: whether another task may start.
    init(
        _ runtime: any Runtime, _ scheduler: TaskScheduler, _ calendar: CalendarWatch, _ holds: HoldController,
        _ throughput: ThroughputController, _ uplink: UplinkMonitor, _ running: any RunningTasks,
        hasCapacity: @escaping () -> Bool
    ) {
        self.runtime = runtime
        self.scheduler = scheduler
        self.calendar = calendar
        self.holds = holds
        self.throughput = throughput
        self.uplink = uplink
        self.running = running
        self.hasCapacity = hasCapacity
    }

    var lanesInUse: Set<LaneID> { loading }

    // MARK: Choice of a task

    /// Judges slow lanes, and starts a slow probe if one is due.
    func reconsiderThroughput() -> [EngineEffect] {
        probeThroughput()
        return throughput.reconsider() + [.scheduleCheck]
    }

    /// If a slow probe is due, begins to load its task and returns true.
    @discardableResult
    private func probeThroughput() -> Bool {
        guard let key = throughput.probe(among: throughput.candidates.filter(hasSlot)) else { return false }
        load(key, .slow)
        return true
    }

    func probeUplink() {
        guard uplink.mayProbe else { return }
        var candidates: [Origin: LaneGroup] = [:]
        for (group, state) in holds.groups where group.networkScope == .uplink && state.isHeldOnlyByUplink {
            for lane in holds.lanes(of: group) {
                let key = LaneGroup(lane: lane, constraints: group.constraints)
                guard let origin = scheduler.lanes[lane]?.origin, holds.slow[key] == nil, hasSlot(key) else { continue }
                candidates[origin] = key
            }
        }
        guard !candidates.isEmpty, let origin = uplink.probe(among: Array(candidates.keys)) else { return }
        if let key = candidates[origin] { load(key, .uplink) }
    }

    /// Finds the session's tasks that are held only because the uplink does not work. For each lane with such tasks,
    /// the result has their constraints.
    func heldByUplink(of session: SessionID) -> [LaneID: Set<ConstraintsID>] {
        guard uplink.isHeld else { return [:] }
        var held: [LaneID: Set<ConstraintsID>] = [:]
        for (group, state) in holds.groups where group.session == session && state.isHeldOnlyByUplink {
            for lane in holds.lanes(of: group) { held[lane, default: []].insert(group.constraints) }
        }
        return held
    }

    /// Whether the limits permit a probe of the lane group (the tasks of a lane with the same constraints) to run. If
    /// no slot is free, the probe gets the next slot that becomes free.
    private func hasSlot(_ key: LaneGroup) -> Bool {
        guard let lane = scheduler.lanes[key.lane], !loading.contains(key.lane) else { return false }
        if hasCapacity(), scheduler.hasSlot(lane) { return true }
        waitsForSlot = true
        return false
    }

    /// If a probe waits for a slot and a slot is free now, starts the probe. The engine calls this function before it
    /// starts ready tasks.
    func takeFreeSlot() -> [EngineEffect] {
        guard waitsForSlot else { return [] }
        waitsForSlot = false
        let effects = probeThroughput() ? throughput.reconsider() + [.scheduleCheck] : []
        probeUplink()
        return effects
    }

    // MARK: Start

    /// Loads the first waiting task of the lane group. The slot for the task is taken before the load.
    private func load(_ key: LaneGroup, _ kind: ProbeKind) {
        guard let lane = scheduler.lanes[key.lane] else { return cancelProbe(key, kind) }
        loading.insert(key.lane)
        scheduler.takeSlot(lane)
        var known: Set<TaskID> = []
        running.visit { if $0.lane == key.lane { known.insert($0.id) } }
        let (calendar, clocks) = (calendar.milliseconds, runtime.clocks)
        runtime.store(
            { [known] (transaction) throws(Failure) -> (task: StoredTask?, nextDue: Int64?) in
                let first = try transaction.lanes.firstWaitingTask(of: key.lane, stating: key.constraints, notIn: known)
                guard let first else { return (nil, nil) }
                let clock = StartClock(clocks, calendar: try transaction.calendar(calendar, clocks))
                let task = try transaction.starts.startable([first], clock).first
                return (task, task == nil ? try transaction.delays.nextDue() : nil)
            },
            then: { [unowned self] result in
                loading.remove(key.lane)
                guard case .success(let found) = result else { return probeNotStarted(key, kind) }
                guard let task = found.task else { return [.due(at: found.nextDue)] + probeNotStarted(key, kind) }
                return [.startProbe(task, key, kind)]
            })
    }

    /// Releases the slot of a probe that cannot start, and schedules the load of the lane's waiting tasks.
    func probeNotStarted(_ key: LaneGroup, _ kind: ProbeKind) -> [EngineEffect] {
        scheduler.released(key.lane)
        cancelProbe(key, kind)
        return [.tasksWait(in: [key.lane], reload: false), .scheduleCheck]
    }

    private func cancelProbe(_ key: LaneGroup, _ kind: ProbeKind) {
        switch kind {
        case .slow: throughput.cancelProbe(of: key)
        case .uplink: uplink.cancelProbe()
        }
    }

    /// Whether the probe is still needed. Since the probe was chosen, the hold may have ended, or another hold may have
    /// begun.
    func needsProbe(_ key: LaneGroup, _ kind: ProbeKind) -> Bool {
        switch kind {
        case .slow: throughput.needsProbe(key)
        case .uplink: uplink.isHeld && holds.slow[key] == nil && holds.state(of: key)?.isHeldOnlyByUplink == true
        }
    }

    func began(_ task: TaskID, _ key: LaneGroup, _ kind: ProbeKind) {
        switch kind {
        case .slow: throughput.probeBegan(task, of: key)
        case .uplink: uplinkProbes.insert(task)
        }
    }

    func isProbe(_ task: TaskID) -> Bool { uplinkProbes.contains(task) || throughput.isProbe(task) }

    /// Records that the task does not run any more. If the task was a probe, ends the probe. The result of a slow probe
    /// may release other lanes.
    func ended(_ task: TaskID, hasResponse: Bool) -> [EngineEffect] {
        uplinkProbes.remove(task)
        return throughput.ended(task, hasResponse: hasResponse) ? reconsiderThroughput() : []
    }
}
