internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands that list what the store has recorded about tasks: the attempts (runs) of a task, the wait records
/// (when and why a task waited), and the history (the tasks whose end was acknowledged).
struct TaskRecordCommands {
    let call: CommandCall

    func attempts(of task: TaskID, in session: SessionID) {
        let (transfers, clocks) = (call.engine.base.transfers, call.engine.runtime.clocks)
        let running = transfers.tasks(of: session)
        call.read(
            { (transaction) throws(Failure) in
                let listing = try transaction.listing.tasks(
                    of: session, TaskSelection(ids: [task]), after: TaskID(rawValue: 0), maximum: 1, running: running,
                    bootMilliseconds: clocks.bootMilliseconds, now: clocks.wallMilliseconds)
                return (try transaction.attempts.all(of: task, in: session), listing.tasks.first)
            },
            reply: { attempts, info in
                guard var info, let runner = transfers[task] else { return .attempts(attempts) }
                runner.addProgress(to: &info)
                return .attempts(Self.marked(attempts, info, hasRequest: runner.attempt.exchange.requests > 0))
            })
    }

    /// The attempts, the last of which is marked if it is running. A running attempt is stored as stopped, so that its
    /// row is right after a crash of the engine.
    private static func marked(_ attempts: [Attempt], _ info: TaskInfo, hasRequest: Bool) -> [Attempt] {
        guard let last = attempts.last, last.next == .stopped, info.state == .running, hasRequest,
            last.number == info.attempts
        else { return attempts }
        var attempts = attempts
        attempts[attempts.count - 1].next = .running
        return attempts
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
