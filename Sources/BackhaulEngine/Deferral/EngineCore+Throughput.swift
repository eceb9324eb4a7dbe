internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Lanes from which too little comes pause, and try with one task whether it is better.
extension EngineCore {
    /// So many are written down: the history of a session must not be theirs alone.
    private static let slowRowLimit = 64

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
        for runner in Array(runners.values) where reach(of: runner.task) != .thisMachine {
            let moved = runner.waitsForNetwork ? runner.rate.lastSecond : nil
            if case .throughput(let key, let before, let milliseconds)? = runner.probe {
                let (sum, time) = (before &+ (moved ?? 0), milliseconds + (moved == nil ? 0 : 1_000))
                runner.probe = .throughput(of: key, bytes: sum, milliseconds: time)
                if deferral.throughput.probed(key, bytes: sum, milliseconds: time, now: loop.now) {
                    runner.probe = nil
                    mayHaveChanged = true
                }
            } else if let moved, loop.now - runner.began >= ThroughputWatch<LaneClass>.youngest {
                bytes[laneClass(of: runner.task), default: 0] &+= moved
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
        if deferral.throughput.holdsAny {
            for runner in runners.values { keys.insert(laneClass(of: runner.task)) }
            for task in ready.values { keys.insert(laneClass(of: task)) }
        }
        probeThroughput()
        for key in keys { reconsiderThroughput(of: key) }
        planLook()
    }

    func reconsiderThroughput(of key: LaneClass) {
        guard let lane = lanes[key.lane] else { return }
        let hold = deferral.throughput.hold(key, terms(of: key), now: loop.now, unix: Clock.wallMilliseconds)
        guard let hold else {
            guard let held = deferral.slow.removeValue(forKey: key) else { return }
            journal.end(held.rows)
            scheduler.tasksWait(in: [key.lane], reload: true)
            return
        }
        if deferral.slow[key] == nil {
            let scope = WaitScope(lane.session, constraints: key.constraints, lane: key.lane)
            var held = Held(holds: [hold], began: Clock.wallMilliseconds, rows: [])
            if deferral.slow.count < Self.slowRowLimit {
                let (row, began) = journal.begin(scope, hold)
                (held.rows, held.began) = ([row], began)
            }
            deferral.slow[key] = held
            giveUp(hold.reason) { self.laneClass(of: $0) == key }
        } else {
            deferral.slow[key]?.holds = [hold]
            // A probe that was too slow.
            for runner in Array(runners.values) where runner.probe == nil && laneClass(of: runner.task) == key {
                runner.deferred(for: hold.reason)
            }
        }
    }

    /// Tries one task of all that are slow when it is time to. True: one is being looked for.
    @discardableResult
    func probeThroughput() -> Bool {
        var candidates: [(lane: LaneClass, terms: ThroughputWatch<LaneClass>.Terms)] = []
        for key in deferral.slow.keys where mayProbeThroughput(key) {
            guard let terms = terms(of: key),
                deferral.throughput.permission(key, terms, now: loop.now) == .probe, hasTurnForProbe(key)
            else { continue }
            candidates.append((key, terms))
        }
        guard let key = deferral.throughput.probe(among: candidates, now: loop.now) else { return false }
        probe(key, .throughput(of: key, bytes: 0, milliseconds: 0))
        return true
    }

    /// Nothing else holds them.
    func mayProbeThroughput(_ key: LaneClass) -> Bool {
        guard deferral.slow[key] != nil, let lane = lanes[key.lane] else { return false }
        let task = TaskClass(session: lane.session, constraints: key.constraints, reach: lane.reach)
        return deferral.classes[task]?.mayStart == true
    }

    /// The probe has ended before anything was decided.
    func endThroughputProbe(of key: LaneClass, _ runner: TaskRunner) {
        let hasAnswered = runner.left.0 == .succeeded
        if deferral.throughput.endProbe(key, hasAnswered: hasAnswered, now: loop.now) { reconsiderThroughput() }
    }
}

extension TaskRunner {
    /// For nothing of ours: neither a rate, nor the disk, nor the server's thinking.
    var waitsForNetwork: Bool { transfer != nil && !isUnanswered && !waitsForRate && !isFinishing && takesBytes }
}
