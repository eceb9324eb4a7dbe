internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Lanes from which too little comes pause, and try with one task whether it is better.
extension EngineCore {
    func laneClass(of task: StoredTask) -> LaneClass { LaneClass(lane: task.lane, constraints: task.constraints) }

    private func terms(of key: LaneClass) -> ThroughputWatch<LaneClass>.Terms? {
        guard let lane = lanes[key.lane], let session = sessions[lane.session] else { return nil }
        guard lane.reach != .thisMachine,
            let state = deferral.classes[
                TaskClass(session: lane.session, constraints: key.constraints, reach: lane.reach)],
            let minimum = state.constraints.minimumBytesPerSecond
        else { return nil }
        return .init(
            minimumBytesPerSecond: minimum, slowAfterMilliseconds: session.slowAfterMilliseconds,
            slowPauseMilliseconds: session.slowPauseMilliseconds)
    }

    /// Once a second.
    func measureThroughput() {
        guard deferral.classes.contains(where: { $0.value.constraints.minimumBytesPerSecond != nil }) else { return }
        var bytes: [LaneClass: UInt64] = [:]
        var mayHaveChanged = false
        for runner in Array(runners.values) where reach(of: runner.task) != .thisMachine && runner.waitsForNetwork {
            let key = laneClass(of: runner.task)
            if case .throughput(let before, let milliseconds)? = runner.probe {
                let (moved, time) = (before &+ runner.rate.lastSecond, milliseconds + 1_000)
                runner.probe = .throughput(bytes: moved, milliseconds: time)
                if deferral.throughput.probed(key, terms(of: key), bytes: moved, milliseconds: time, now: loop.now) {
                    runner.probe = nil
                    mayHaveChanged = true
                }
            } else if loop.now - runner.began >= ThroughputWatch<LaneClass>.youngest {
                bytes[key, default: 0] &+= runner.rate.lastSecond
            }
        }
        let samples = bytes.compactMap { key, bytes in
            lanes[key.lane].map {
                ThroughputWatch<LaneClass>.Sample(key, $0.origin, terms: terms(of: key), bytes: bytes)
            }
        }
        if deferral.throughput.take(samples, now: loop.now) { mayHaveChanged = true }
        if mayHaveChanged { reconsiderThroughput() }
    }

    /// Those that are slow, or have been.
    func reconsiderThroughput() {
        var keys = Set(deferral.slow.keys)
        for runner in runners.values { keys.insert(laneClass(of: runner.task)) }
        for key in keys { reconsiderThroughput(of: key) }
        planLook()
    }

    private func reconsiderThroughput(of key: LaneClass) {
        guard let lane = lanes[key.lane] else { return }
        let hold = deferral.throughput.hold(key, terms(of: key), now: loop.now, unix: Clock.wallMilliseconds)
        guard let hold else {
            guard let held = deferral.slow.removeValue(forKey: key) else { return }
            end(held.rows)
            tasksWait(in: [key.lane], reload: true)
            return
        }
        if deferral.slow[key] == nil {
            let scope = WaitScope(lane.session, constraints: key.constraints, lane: key.lane)
            let (row, began) = begin(scope, hold)
            deferral.slow[key] = Held(holds: [hold], began: began, rows: [row])
            giveUp(hold.reason) { self.laneClass(of: $0) == key }
        } else {
            deferral.slow[key]?.holds = [hold]
            // A probe that was too slow.
            for runner in Array(runners.values) where runner.probe == nil && laneClass(of: runner.task) == key {
                runner.deferred(for: hold.reason)
            }
        }
        let task = TaskClass(session: lane.session, constraints: key.constraints, reach: lane.reach)
        guard deferral.throughput.permission(key, terms(of: key), now: loop.now) == .probe,
            deferral.classes[task]?.mayStart == true
        else { return }
        probe(key, .throughput(bytes: 0, milliseconds: 0)) { core in
            core.deferral.throughput.beginProbe(key, core.terms(of: key), now: core.loop.now)
        }
    }

    /// The probe has ended before anything was decided.
    func endThroughputProbe(of runner: TaskRunner) {
        let key = laneClass(of: runner.task)
        let changed = deferral.throughput.endProbe(
            key, terms(of: key), hasAnswered: runner.left.0 == .succeeded, now: loop.now)
        if changed { reconsiderThroughput() }
    }

    // MARK: Probes of any kind

    /// Starts one task of these, beside whose turn it is: all of its like are held.
    func probe(_ key: LaneClass, _ kind: ProbeKind, began: @escaping @Sendable (EngineCore) -> Void) {
        guard !diskIsBehind, deferral.probing.insert(key.lane).inserted else { return }
        let known = Set(runners.values.lazy.filter { $0.task.lane == key.lane }.map(\.task.id))
        let others = (deferral.waiting[key.lane] ?? []).subtracting([key.constraints])
        let calendar = calendarMilliseconds
        store({ (transaction) throws(Failure) in
            let tasks = try transaction.waitingTasks(lane: key.lane, limit: 1, afterKnown: known, notOf: others)
            return try transaction.startable(tasks, Self.startClock(calendar: calendar))
        }, then: { core, result in
            core.deferral.probing.remove(key.lane)
            guard let task = try? result.get().first, core.runners[task.id] == nil,
                task.constraints == key.constraints, !core.hasFailed, !core.isLeaving
            else { return }
            if let wait = core.wait(before: task) { return core.park([wait: [task]]) }
            began(core)
            core.run(task, holdsTurn: false, probe: kind)
        })
    }
}

extension TaskRunner {
    /// For nothing of ours: neither a rate, nor the disk, nor the server's thinking.
    var waitsForNetwork: Bool { transfer != nil && !isUnanswered && !waitsForRate && !isFinishing && takesBytes }
}
