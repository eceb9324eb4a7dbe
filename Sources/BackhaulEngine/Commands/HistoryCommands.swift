internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands that list past facts: attempts (runs of tasks), tasks whose end was acknowledged, and wait records
/// (when and why tasks waited).
struct HistoryCommands {
    let call: CommandCall

    func attempts(of task: TaskID, in session: SessionID) {
        call.read { (transaction) throws(Failure) in .attempts(try transaction.attempts.all(of: task, in: session)) }
    }

    func history(of session: SessionID, after: TaskID, maximum: Int) {
        call.read { (transaction) throws(Failure) in
            let (tasks, more) = try transaction.history.tasks(of: session, after: after, maximum: maximum)
            return .tasks(tasks, more: more)
        }
    }

    /// The wait records of a task.
    func waits(of task: TaskID, in session: SessionID) {
        call.read { [clocks = call.engine.runtime.clocks] (transaction) throws(Failure) in
            guard let waits = try transaction.waits.all(of: task, in: session, now: clocks.wallMilliseconds) else {
                throw Failure(.notFound, "the session has no task \(task.rawValue)")
            }
            return .waits(waits)
        }
    }
}
