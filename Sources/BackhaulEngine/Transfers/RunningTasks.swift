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
