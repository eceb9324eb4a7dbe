internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Pauses lanes that are slower than their constraints permit. Meanwhile, one of the paused tasks runs, to test whether
/// its lane is faster again. There is only one such task (*slow probe*) at a time.
///
/// Each engine has one object of this type.
final class ThroughputController {
    /// The bytes that a running task transferred in the last second.
    struct Sample {
        var task: TaskID
        var key: LaneGroup
        /// The transferred bytes; nil if a rate limit, the disk or a missing response delays the task.
        var bytes: UInt64?
        /// The time at which the task began to run, by the boot clock.
        var began: Int64
    }

    /// The bytes that a running probe has transferred, and the time in which it waited only for the network.
    private struct RunningProbe {
        var key: LaneGroup
        var bytes: UInt64 = 0
        var milliseconds: Int64 = 0
    }

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let holds: HoldController
    private let running: any RunningTasks
    private var watch = ThroughputWatch<LaneGroup>()
    private var probes: [TaskID: RunningProbe] = [:]

    init(
        _ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ holds: HoldController,
        _ running: any RunningTasks
    ) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.holds = holds
        self.running = running
    }

    func terms(of key: LaneGroup) -> ThroughputWatch<LaneGroup>.Terms? {
        guard let lane = scheduler.lanes[key.lane], lane.networkScope != .loopback,
            let session = sessions[lane.session],
            let minimum = holds.state(of: key)?.constraints.minimumBytesPerSecond
        else { return nil }
        return .init(
            minimumBytesPerSecond: minimum, slowAfterMilliseconds: session.slowAfterMilliseconds,
            slowPauseMilliseconds: session.slowPauseMilliseconds)
    }

    /// Takes the samples of the last second. Returns true when lanes have to be judged again.
    func measure(_ samples: [Sample]) -> Bool {
        var bytes: [LaneGroup: UInt64] = [:]
        var mayHaveChanged = false
        for sample in samples {
            if probes[sample.task] != nil {
                if measureProbe(sample) { mayHaveChanged = true }
            } else if let moved = sample.bytes,
                runtime.now - sample.began >= ThroughputWatch<LaneGroup>.minimumTransferAge
            {
                bytes[sample.key, default: 0] &+= moved
            }
        }
        let found = bytes.compactMap { key, bytes in
            scheduler.lanes[key.lane].map {
                ThroughputWatch<LaneGroup>.Sample(key, $0.origin, terms: terms(of: key), bytes: bytes)
            }
        }
        return watch.take(found, now: runtime.now) || mayHaveChanged
    }

    /// Returns true when the probe has a result.
    private func measureProbe(_ sample: Sample) -> Bool {
        guard var probe = probes[sample.task] else { return false }
        probe.bytes &+= sample.bytes ?? 0
        probe.milliseconds += sample.bytes == nil ? 0 : 1_000
        let isDecided = watch.probed(
            probe.key, bytes: probe.bytes, milliseconds: probe.milliseconds, now: runtime.now)
        probes[sample.task] = isDecided ? nil : probe
        return isDecided
    }

    /// Judges whether the slow lanes are still slow. While any lane is paused, also judges each lane that has running
    /// tasks or ready tasks. Ready tasks are loaded to run soon.
    func reconsider() -> [EngineEffect] {
        var keys = Set(holds.slow.keys)
        if watch.isPausingAny {
            running.visit { keys.insert(LaneGroup(of: $0)) }
            for task in scheduler.ready.values { keys.insert(LaneGroup(of: task)) }
        }
        return reconsider(keys.sorted())
    }

    /// While any lane is paused, judges lane groups (tasks of a lane with the same constraints) whose tasks have begun
    /// to wait. They are judged even if they were not measured: if all servers together are too slow, such lanes count
    /// as slow, too.
    func lanesBeganWaiting(_ keys: some Sequence<LaneGroup>) -> [EngineEffect] {
        watch.isPausingAny ? reconsider(keys) : []
    }

    private func reconsider(_ keys: some Sequence<LaneGroup>) -> [EngineEffect] {
        let (now, unix) = (runtime.now, runtime.clocks.wallMilliseconds)
        return keys.flatMap { key -> [EngineEffect] in
            guard scheduler.lanes[key.lane] != nil else { return [] }
            return holds.setSlow(key, watch.hold(key, terms(of: key), now: now, unix: unix))
        }
    }

    func networkChanged() { _ = watch.networkChanged() }

    func forget(_ key: LaneGroup) { watch.forget(key) }

    // MARK: Probes

    /// The slow lanes whose probe may start now. No other reason holds their tasks.
    var candidates: [LaneGroup] {
        holds.slow.keys.sorted().filter { key in
            guard mayProbe(key), let terms = terms(of: key) else { return false }
            return watch.permission(key, terms, now: runtime.now) == .probe
        }
    }

    /// Chooses the lane group whose task is started as the probe.
    func probe(among keys: [LaneGroup]) -> LaneGroup? {
        let candidates = keys.compactMap { key in terms(of: key).map { (lane: key, terms: $0) } }
        return watch.probe(among: candidates, now: runtime.now)
    }

    func needsProbe(_ key: LaneGroup) -> Bool { watch.isProbing(key) && mayProbe(key) }

    private func mayProbe(_ key: LaneGroup) -> Bool { holds.slow[key] != nil && holds.state(of: key)?.mayStart == true }

    func cancelProbe(of key: LaneGroup) { watch.cancelProbe(key, now: runtime.now) }

    func probeBegan(_ task: TaskID, of key: LaneGroup) { probes[task] = RunningProbe(key: key) }

    func isProbe(_ task: TaskID) -> Bool { probes[task] != nil }

    /// Ends the probe of a task that does not run any more. Returns true when lanes have to be judged again.
    func ended(_ task: TaskID, hasResponse: Bool) -> Bool {
        guard let probe = probes.removeValue(forKey: task) else { return false }
        return watch.endProbe(probe.key, hasResponse: hasResponse, now: runtime.now)
    }

    /// The next time after `time` at which a probe becomes due, by the boot clock.
    func nextProbe(since time: Int64) -> Int64? { watch.nextProbe(now: time) }
}
