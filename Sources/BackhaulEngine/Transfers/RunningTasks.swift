internal import BackhaulModel
internal import BackhaulStore

/// The properties of a running task that other objects of the engine need for decisions. The struct is small, because
/// these objects visit all running tasks.
struct RunningTask {
    let id: TaskID
    let session: SessionID
    let lane: LaneID
    let origin: Origin
    let constraints: ConstraintsID
}

/// The running tasks, for objects of the engine that decide about tasks.
protocol RunningTasks: AnyObject {
    /// Calls `body` with each running task, in no particular order.
    func visit(_ body: (RunningTask) -> Void)
    var isEmpty: Bool { get }
    /// Whether one more task may start.
    var hasCapacity: Bool { get }
}

extension TransferSupervisor: RunningTasks {
    func visit(_ body: (RunningTask) -> Void) {
        for runner in all { body(runner.attempt.runningTask) }
    }

    var isEmpty: Bool { count == 0 }

    var hasCapacity: Bool { availableCapacity > 0 }
}

extension TransferSupervisor: ProgressSource {
    var runningSessions: Set<SessionID> { Set(all.map(\.attempt.task.session)) }

    func readings(of session: SessionID) -> [Progress] {
        all.lazy.filter { $0.attempt.task.session == session }.map(\.progress)
    }
}
