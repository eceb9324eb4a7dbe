internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// The ends of resource time-outs of tasks that nothing else looks at: those that wait for their turn.
extension EngineCore {
    private static let lookMilliseconds: Int64 = 5_000
    /// At most so many end with one look.
    private static let overdueLimit = 256

    /// Tasks that are loaded are the next of their lanes and mostly the oldest. They need no turn to end. Looked for
    /// while something runs, which is why they wait.
    func endOverdue() {
        guard loop.now - lastLookForOverdue >= Self.lookMilliseconds else { return }
        lastLookForOverdue = loop.now
        let overdue = ready.values.lazy.filter { [self] task in
            sessions[task.session].map { remainingMilliseconds(of: task, $0) <= 0 } ?? false
        }
        for task in Array(overdue.prefix(Self.overdueLimit)) where runners[task.id] == nil {
            ready[task.id] = nil
            schedule.drop(task.id, in: task.lane)
            run(task, holdsTurn: false)
        }
    }
}
