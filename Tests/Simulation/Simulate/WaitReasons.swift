import CBackhaul

/// Compares the listing of a task with what the program and the servers know of its waits.
struct WaitReasons {
    let history: History
    let journal: Journal
    let now: Int64

    /// - tasks: the tasks of the same listing, by their numbers.
    func contradiction(in info: bh_task_info, _ tasks: [Int: bh_task_info]) -> Inspection.Contradiction? {
        if Int(info.reason) == BH_REASON_ORIGIN, !mayHavePause { return .noPause }
        let waits = Int(info.state) == BH_TASK_WAITING && Int(info.reason) == BH_REASON_DEPENDENCY
        let plan = PreparedRequest.task(info.idempotency_key).flatMap(history.plan)
        guard let chain = plan?.chain else { return waits ? .noDependency : nil }
        let mayStart = [BH_TASK_WAITING, BH_TASK_RUNNING].contains(Int(info.state)) && !waits
        switch tasks[chain.predecessor].map({ Int($0.state) }) {
        case BH_TASK_WAITING, BH_TASK_RUNNING, BH_TASK_SUSPENDED: return mayStart ? .dependencyIsIgnored : nil
        default: return waits ? .dependencyHasEnded : nil
        }
    }

    /// Whether a server has demanded a pause that was not over an hour ago.
    private var mayHavePause: Bool { journal.all.contains { $0.kind == .pauseIsDemanded && $0.first > now - hour } }
}
