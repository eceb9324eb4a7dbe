internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulStore

/// Collects the numbers of the engine's parts, its store and its disk threads.
struct MetricsReader {
    unowned let engine: EngineLoop

    /// Calls `then` on the loop with the metrics as OpenMetrics text.
    func read(then: @escaping (Result<String, Failure>) -> Void) {
        engine.runtime.store(
            { (transaction) throws(Failure) in (try transaction.metrics.read(), transaction.commits) },
            then: { result in
                then(result.map { store, commits in metrics(store, commits).text })
                return []
            })
    }

    private func metrics(_ store: StoreMetrics, _ commits: DurationHistogram) -> EngineMetrics {
        let running = UInt64(engine.base.transfers.count)
        var tasks = store.ended
        tasks[.running] = running
        tasks[.suspended] = store.suspended
        tasks[.waiting] = store.counters.liveTasks - min(store.counters.liveTasks, store.suspended + running)
        return EngineMetrics(
            engine: engine.information, tasks: tasks, waits: waits(store), store: store,
            counters: engine.base.counters, commits: commits, syncs: engine.services.disk.syncDurations,
            now: engine.runtime.clocks.wallMilliseconds)
    }

    /// The number of tasks that make no progress, by reason.
    private func waits(_ store: StoreMetrics) -> [WaitReason: UInt64] {
        var waits = store.delayed
        waits[.suspended, default: 0] += store.suspended
        var running: [LaneGroup: UInt64] = [:]
        for runner in engine.base.transfers.all {
            running[LaneGroup(of: runner.attempt.task), default: 0] += 1
            waits[runner.progress.reason, default: 0] += 1
        }
        let explainer = engine.explainer
        for count in store.ready {
            let group = LaneGroup(lane: count.lane, constraints: count.constraints)
            let waiting = count.count - min(count.count, running[group] ?? 0)
            waits[explainer.reason(of: group), default: 0] += waiting
        }
        return waits
    }
}
