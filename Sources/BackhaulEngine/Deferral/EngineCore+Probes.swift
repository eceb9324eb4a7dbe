internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// One task of those that are held is started to find something out. It passes by its like, not by the limits.
extension EngineCore {
    /// All that the limits leave may be in use: then the next turn that is given back is asked for first.
    func hasTurnForProbe(_ key: LaneClass) -> Bool {
        guard let lane = lanes[key.lane], !deferral.probing.contains(key.lane) else { return false }
        if transfers.room > 0, scheduler.hasSlot(lane) { return true }
        deferral.probesWaitForTurn = true
        return false
    }

    /// Before anything else takes the turn.
    func probeInTurn() {
        guard deferral.probesWaitForTurn else { return }
        deferral.probesWaitForTurn = false
        if probeThroughput() { reconsiderThroughput() }
        probeUplink()
    }

    /// The watch has given the probe to these.
    func probe(_ key: LaneClass, _ kind: ProbeKind) {
        guard let lane = lanes[key.lane] else { return giveBackProbe(of: key, kind) }
        deferral.probing.insert(key.lane)
        scheduler.takeSlot(lane)
        let known = Set(runners.values.lazy.filter { $0.task.lane == key.lane }.map(\.task.id))
        let calendar = calendar.milliseconds
        store({ (transaction) throws(Failure) -> (task: StoredTask?, nextDue: Int64?) in
            let first = try transaction.firstWaitingTask(lane: key.lane, stating: key.constraints, notIn: known)
            guard let first else { return (nil, nil) }
            let task = try transaction.startable([first], Self.startClock(calendar: calendar)).first
            return (task, task == nil ? try transaction.nextDue() : nil)
        }, then: { core, result in
            core.deferral.probing.remove(key.lane)
            if case .success(let found) = result {
                core.scheduler.due(at: found.nextDue)
                if let task = found.task, core.startProbe(task, key, kind) { return }
            }
            core.scheduler.released(key.lane)
            core.giveBackProbe(of: key, kind)
        })
    }

    /// False: it may not run after all.
    private func startProbe(_ task: StoredTask, _ key: LaneClass, _ kind: ProbeKind) -> Bool {
        guard !hasFailed, !isLeaving, sessions[task.session] != nil, runners[task.id] == nil,
            isStillToProbe(key, kind), !fitting([task], in: key.lane).isEmpty
        else { return false }
        let (startable, effects) = credentials.admit([task])
        apply(effects)
        if startable.isEmpty { return false }
        run(task, holdsTurn: true, probe: kind)
        return true
    }

    /// What held them may be over since, or something else hold them, too.
    private func isStillToProbe(_ key: LaneClass, _ kind: ProbeKind) -> Bool {
        switch kind {
        case .throughput: deferral.throughput.isProbing(key) && mayProbeThroughput(key)
        case .uplink: mayProbeUplink(key)
        }
    }

    /// Nothing is tried. What waits there is looked at anew.
    private func giveBackProbe(of key: LaneClass, _ kind: ProbeKind) {
        switch kind {
        case .throughput: deferral.throughput.giveBackProbe(key, now: loop.now)
        case .uplink: deferral.uplink.giveBackProbe(now: loop.now)
        }
        guard !hasFailed, !isLeaving else { return }
        scheduler.tasksWait(in: [key.lane], reload: false)
        planLook()
    }
}
