public import BackhaulModel

/// Reads the numbers of the store for its metrics. The call reads an index of all waiting tasks.
public struct MetricsOperations {
    let tables: Tables

    public func read() throws(Failure) -> StoreMetrics {
        var metrics = StoreMetrics()
        metrics.counters = try tables.sessions.counters()
        metrics.ready = try tables.readyTasks.counts()
        metrics.delayed = try tables.delays.counts()
        metrics.suspended = try tables.tasks.countSuspended()
        for session in try tables.sessions.idsWithEvents() {
            for state in TaskState.allCases where state.hasEnded {
                metrics.ended[state, default: 0] += try tables.events.countEnds(as: state, in: session)
            }
        }
        metrics.oldestEventMilliseconds = try tables.events.oldestTime()
        metrics.files = tables.directory.sizes
        return metrics
    }
}
