import Backhaul

/// An open session. It is closed when this object is deinitialized.
final class Session {
    private var session: BlockingSession
    private let signals: Signals
    /// Creates the session again. Nil if the command only attached to the session.
    private let creation: (() throws(CommandError) -> Session)?

    init(_ session: BlockingSession, signals: Signals, creation: (() throws(CommandError) -> Session)? = nil) {
        self.session = session
        self.signals = signals
        self.creation = creation
    }

    /// Whether this command has created the session.
    var isNew: Bool { session.isNew }

    /// A file descriptor. It is readable while the session has events that no poll has returned.
    var eventDescriptor: Int32 { session.eventDescriptor }

    /// Closes the session while this object still exists, so that another process can become the consumer.
    func close() { session.close() }

    @discardableResult
    func run<Value>(
        _ verb: @autoclosure () throws(BackhaulError) -> Verb<Backhaul.Session, Value>
    ) throws(CommandError) -> Value {
        try signals.call { () throws(BackhaulError) in try session.run(try verb()) }
    }

    func configuration() throws(CommandError) -> SessionConfiguration {
        let configuration = try recreatingIfGone { () throws(CommandError) in try run(.configuration) }
        guard let configuration else { throw .stopped(.libraryFailed, "the library gave no configuration") }
        return configuration
    }

    /// Calls `body`. If the session is gone, creates the session and calls `body` again: another command had created
    /// the session, was refused, and removed it.
    private func recreatingIfGone<Result>(_ body: () throws(CommandError) -> Result) throws(CommandError) -> Result {
        for _ in 0..<Session.mostCreations {
            do {
                return try body()
            } catch {
                guard let creation, error.isSessionGone else { throw error }
                session = try creation().session
            }
        }
        return try body()
    }

    /// How often a command creates its session again.
    private static let mostCreations = 10

    /// Enqueues transfers. If a transfer is refused, the error includes the URL of that transfer. If this command has
    /// created the session, and the session has no task, removes the session.
    func enqueue(_ transfers: [Transfer]) throws(CommandError) -> [Enqueued] {
        try enqueue(transfers, skip: { _ in }).compactMap { $0 }
    }

    /// The same, but an invalid URL of a list does not prevent the other transfers: `skip` is called with the error,
    /// and the result of this transfer is nil.
    func enqueue(_ transfers: [Transfer], skip: (CommandError) -> Void) throws(CommandError) -> [Enqueued?] {
        var results = [Enqueued?](repeating: nil, count: transfers.count)
        var positions = Array(transfers.indices)
        while true {
            let valid = positions.map { transfers[$0] }
            do {
                let enqueued = try recreatingIfGone { () throws(CommandError) in
                    try run(.enqueue(valid.map(\.keyedRequest)))
                }
                for (position, result) in zip(positions, enqueued) { results[position] = result }
                return results
            } catch {
                if valid.count > 1, let index = error.indexOfInvalidLine(valid) {
                    skip(error.about(valid))
                    positions.remove(at: index)
                    continue
                }
                try removeIfRefused(error)
                throw error.about(valid)
            }
        }
    }

    /// Calls `body`, which prepares an enqueue. If it throws, and this command has created the session, removes the
    /// session: a refused command stores nothing.
    func removedIfRefused(_ body: () throws(CommandError) -> Void) throws(CommandError) {
        do {
            try body()
        } catch {
            try removeIfRefused(error)
            throw error
        }
    }

    private func removeIfRefused(_ error: CommandError) throws(CommandError) {
        if case .interrupted = error { return }
        if isNew, try tasks(maximum: 1).isEmpty { try run(.invalidate(cancellingTasks: false)) }
    }

    /// The number of tasks that have not ended.
    func liveTasks() throws(CommandError) -> Int {
        var count = 0
        try forEachPage(.states(TaskSelection.live)) {
            count += $0.count; return true
        }
        return count
    }

    /// Cancels the tasks of the session, and removes it. A session stays until all its events are acknowledged, so this
    /// process must be the consumer. Throws if the session still exists when no further event comes for a while.
    func remove() throws(CommandError) {
        do {
            try run(.invalidate(cancellingTasks: true))
            var checks = 0
            while checks < Session.mostRemovalChecks {
                checks += 1
                while case let events = try run(.poll(after: nil, maximum: 1000)).events, !events.isEmpty {
                    try run(.acknowledge(events.map(\.id)))
                    checks = 0
                }
                // Throws if the session is gone.
                _ = try run(.configuration)
                _ = try signals.wait(for: eventDescriptor, milliseconds: Session.removalInterval)
            }
        } catch {
            guard error.isSessionGone else { throw error }
            return
        }
        throw .stopped(
            .tryAgainLater,
            "the transfers of the session are cancelled, but not all of them have ended; try again later")
    }

    private static let removalInterval: Int64 = 100
    private static let mostRemovalChecks = 100

    /// The first tasks of the selection, at most `maximum`. The engine ends a page early if its tasks are large. Then
    /// this function reads further pages.
    func tasks(_ selection: TaskSelection = .all, maximum: Int) throws(CommandError) -> [TaskInfo] {
        var found: [TaskInfo] = []
        while true {
            let page = try run(.tasks(selection, after: found.last?.id, maximum: maximum - found.count))
            found += page.tasks
            guard page.more, !page.tasks.isEmpty, found.count < maximum else { return found }
        }
    }

    func task(_ id: TaskID) throws(CommandError) -> TaskInfo {
        do {
            if let task = try run(.task(id)) { return task }
        } catch {
            throw error.with(.notFound) { _ in Session.unknown(id) }
        }
        throw .stopped(.notFound, Session.unknown(id))
    }

    private static func unknown(_ id: TaskID) -> String {
        "there is no task \(id) in this session; `backhaul tasks` lists the tasks"
    }

    /// The task, if the history has it.
    func taskInHistory(_ id: TaskID) throws(CommandError) -> TaskInfo? {
        guard id.rawValue > 0 else { return nil }
        let previous = TaskID(rawValue: id.rawValue - 1)
        return try run(.history(after: previous, maximum: 1)).tasks.first { $0.id == id }
    }
}
