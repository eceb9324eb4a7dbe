internal import BackhaulModel
internal import BackhaulStore

/// The running tasks, as parts see them that decide about tasks.
protocol RunningTasks: AnyObject {
    /// Calls `body` with each running task, in no order.
    func visit(_ body: (StoredTask) -> Void)
    var isEmpty: Bool { get }
}

extension TransferSupervisor: RunningTasks {
    func visit(_ body: (StoredTask) -> Void) {
        for runner in all { body(runner.attempt.task) }
    }

    var isEmpty: Bool { runners.isEmpty }
}

extension TransferSupervisor: ProgressSource {
    var runningSessions: Set<SessionID> { Set(all.map(\.attempt.task.session)) }

    func readings(of session: SessionID) -> [Progress] {
        all.lazy.filter { $0.attempt.task.session == session }.map(\.progress)
    }
}
