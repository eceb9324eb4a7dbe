internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands that list what the store has recorded about tasks: the attempts (runs) of a task, the wait records
/// (when and why a task waited), and the history (the tasks whose end was acknowledged).
struct TaskRecordCommands {
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
