internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands that list what the store has recorded about tasks: the attempts (runs) of a task, the wait records
/// (when and why a task waited), and the history (the tasks whose end was acknowledged).
struct TaskRecordCommands {
    let call: CommandCall

    func attempts(of task: TaskID, in session: SessionID) {
        readAttempts(in: session) { (transaction) throws(Failure) in
            (try transaction.attempts.all(of: task, in: session), more: false)
        }
    }

    func attempts(of tasks: [TaskID], in session: SessionID) {
        readAttempts(in: session) { (transaction) throws(Failure) in
            try transaction.attempts.all(of: tasks, in: session)
        }
    }

    private func readAttempts(
        in session: SessionID,
        _ read: @escaping @Sendable (Transaction) throws(Failure) -> (attempts: [Attempt], more: Bool)
    ) {
        let (transfers, clocks) = (call.engine.base.transfers, call.engine.runtime.clocks)
        let running = transfers.tasks(of: session)
        call.read(
            { (transaction) throws(Failure) in
                let (attempts, more) = try read(transaction)
                let listed = running.intersection(attempts.lazy.map(\.task))
                // A selection without ids selects all tasks.
                guard !listed.isEmpty else { return (attempts, more, []) }
                let listing = try transaction.listing.tasks(
                    of: session, TaskSelection(ids: Array(listed)), after: TaskID(rawValue: 0), maximum: listed.count,
                    running: running, bootMilliseconds: clocks.bootMilliseconds, now: clocks.wallMilliseconds)
                return (attempts, more, listing.tasks)
            },
            reply: { (attempts: [Attempt], more: Bool, infos: [TaskInfo]) in
                var attempts = attempts
                for var info in infos {
                    guard let runner = transfers[info.id] else { continue }
                    runner.addProgress(to: &info)
                    if runner.attempt.exchange.requests > 0 { Self.mark(&attempts, info) }
                }
                return .attempts(attempts, more: more)
            })
    }

    /// Marks the last attempt of the task if it is running. A running attempt is stored as stopped, so that its row is
    /// right after a crash of the engine.
    private static func mark(_ attempts: inout [Attempt], _ info: TaskInfo) {
        guard let last = attempts.lastIndex(where: { $0.task == info.id }), attempts[last].next == .stopped,
            info.state == .running, attempts[last].number == info.attempts
        else { return }
        attempts[last].next = .running
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
            return .waits(waits, more: false)
        }
    }

    func waits(of tasks: [TaskID], in session: SessionID) {
        call.read { [clocks = call.engine.runtime.clocks] (transaction) throws(Failure) in
            let page = try transaction.waits.all(of: tasks, in: session, now: clocks.wallMilliseconds)
            return .waits(page.waits, more: page.more)
        }
    }
}
