internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What became of tasks, attempt by attempt and after their event was acknowledged.
extension CommandHandler {
    func attempts(of task: TaskID, in session: SessionID) {
        read { (transaction) throws(Failure) in .attempts(try transaction.attempts(of: task, in: session)) }
    }

    func history(of session: SessionID, after: TaskID, maximum: Int) {
        read { (transaction) throws(Failure) in
            let (tasks, more) = try transaction.history(of: session, after: after, maximum: maximum)
            return .tasks(tasks, more: more)
        }
    }
}
