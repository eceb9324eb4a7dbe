internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// When and why a task has waited.
extension CommandHandler {
    func waits(of task: TaskID, in session: SessionID) {
        read { (transaction) throws(Failure) in
            guard let waits = try transaction.waits(of: task, in: session, now: Clock.wallMilliseconds) else {
                throw Failure(.notFound, "the session has no task \(task.rawValue)")
            }
            return .waits(waits)
        }
    }
}
