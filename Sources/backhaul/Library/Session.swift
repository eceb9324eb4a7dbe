import CBackhaul

/// An open session. A *session* is a named collection of tasks. The handle is closed when this object is deinitialized.
final class Session {
    // Unsafe: an opaque handle of the library, never dereferenced here.
    private(set) var handle: OpaquePointer?
    let signals: Signals
    /// Whether this command has created the session.
    private var isNew: Bool
    /// Creates the session again. Nil if the command only attached to the session.
    private let creation: (() throws(CommandError) -> Session)?

    init(
        _ handle: OpaquePointer?, isNew: Bool, signals: Signals,
        creation: (() throws(CommandError) -> Session)? = nil
    ) {
        self.handle = handle
        self.isNew = isNew
        self.signals = signals
        self.creation = creation
    }

    deinit { close() }

    /// Closes the handle while this object still exists, so that another process can become the consumer, which reads
    /// the session's events.
    func close() {
        bh_session_close(handle)
        handle = nil
    }

    /// A file descriptor. It is readable while the session has events that no poll has returned.
    func eventDescriptor() throws(CommandError) -> Int32 {
        var descriptor: Int32 = -1
        do { try check { error in bh_session_event_fd(handle, &descriptor, error) } } catch { throw .failure(error) }
        return descriptor
    }

    func configuration() throws(CommandError) -> ConfigurationRecord {
        try withConfiguration { (configuration) throws(CommandError) in
            guard let configuration else {
                throw .stopped(.libraryFailed, "The library gave no configuration.")
            }
            return ConfigurationRecord(configuration)
        }
    }

    /// Calls `body` with the stored configuration, whose pointers are valid until `body` returns.
    func withConfiguration<Result: ~Copyable>(
        _ body: (bh_session_configuration?) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let batch = try recreatingIfGone { () throws(CommandError) in
            let ticket = try Ticket { bh_session_get_configuration(handle, BH_START, nil, $0) }
            try ticket.wait(signals)
            return try ticket.batch()
        }
        return try batch.withConfiguration(body)
    }

    /// Calls `body`. If the session is gone, creates the session and calls `body` again: another command had created
    /// the session, was refused, and removed it.
    private func recreatingIfGone<Result: ~Copyable>(
        _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        for _ in 0..<Session.mostCreations {
            do {
                return try body()
            } catch {
                guard let creation, case .failure(let failure) = error, failure.is(BH_NOT_FOUND) else { throw error }
                let created = try creation()
                close()
                (handle, isNew) = (created.handle, created.isNew)
                created.handle = nil
            }
        }
        return try body()
    }

    /// How often a command creates its session again.
    private static let mostCreations = 10

    func set(_ configuration: inout bh_session_configuration) throws(CommandError) {
        let ticket = try Ticket { bh_session_set_configuration(handle, &configuration, BH_START, $0) }
        try ticket.wait(signals)
    }

    /// Removes the session if this command has created it, and it has no task.
    private func discardIfUnused() throws(CommandError) {
        guard isNew, try tasks(maximum: 1).tasks.isEmpty else { return }
        let ticket = try Ticket { bh_session_invalidate(handle, Int32(BH_INVALIDATE_FINISH), BH_START, $0) }
        try ticket.wait(signals)
    }

    /// Enqueues transfers. If a transfer is refused, the error includes the URL of that transfer.
    func enqueue(_ transfers: [Transfer]) throws(CommandError) -> [EnqueueResult] {
        let arena = CStringArena()
        let requests = transfers.map { $0.request(arena) }
        do {
            return try recreatingIfGone { () throws(CommandError) in
                let ticket = try Ticket { bh_session_enqueue(handle, requests, requests.count, BH_START, nil, $0) }
                try ticket.wait(signals)
                return try ticket.batch().enqueued()
            }
        } catch {
            // A refused command stores nothing.
            if case .failure = error { try discardIfUnused() }
            throw error.about(transfers)
        }
    }

    func poll(after: UInt64, maximum: Int = 1000) throws(CommandError) -> (events: [EventRecord], more: Bool) {
        let ticket = try Ticket { bh_session_poll(handle, after, maximum, BH_START, nil, $0) }
        try ticket.wait(signals)
        let batch = try ticket.batch()
        return (batch.events(), batch.hasMore)
    }

    @discardableResult
    func acknowledge(_ ids: [UInt64]) throws(CommandError) -> UInt64 {
        if ids.isEmpty { return 0 }
        let ticket = try Ticket { bh_session_acknowledge(handle, ids, ids.count, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.count()
    }

    /// Acknowledges (deletes) all events up to the event `id`, and returns the number of acknowledged events.
    func acknowledge(through id: UInt64) throws(CommandError) -> UInt64 {
        let ticket = try Ticket { bh_session_acknowledge_through(handle, id, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.count()
    }

    func complete() throws(CommandError) {
        let ticket = try Ticket { bh_session_complete(handle, BH_START, $0) }
        try ticket.wait(signals)
    }

    func tasks(
        _ selection: TaskSelection = TaskSelection(), after: UInt64 = 0, maximum: Int = 1000
    ) throws(CommandError) -> (tasks: [TaskRecord], more: Bool) {
        let arena = CStringArena()
        var selection = selection.selection(arena)
        let ticket = try Ticket { bh_session_tasks(handle, &selection, after, maximum, BH_START, nil, $0) }
        try ticket.wait(signals)
        let batch = try ticket.batch()
        return (batch.tasks(), batch.hasMore)
    }

    func task(_ id: UInt64) throws(CommandError) -> TaskRecord {
        do {
            let ticket = try Ticket { bh_session_task(handle, id, BH_START, nil, $0) }
            try ticket.wait(signals)
            if let task = try ticket.batch().tasks().first { return task }
        } catch {
            guard case .failure(let failure) = error, failure.is(BH_NOT_FOUND) else { throw error }
            throw .failure(
                failure.withMessage("There is no task \(id) in this session; `backhaul tasks` lists the tasks."))
        }
        throw .stopped(.notFound, "There is no task \(id).")
    }

    /// The attempts (runs) of a task. Ended tasks in the history have attempts, too.
    func attempts(_ task: UInt64) throws(CommandError) -> [AttemptRecord] {
        let ticket = try Ticket { bh_task_attempts(handle, task, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().attempts()
    }

    /// The tasks in the history: they have ended, and the events about their ends were acknowledged (deleted). The list
    /// starts after the task `after`.
    func history(after: UInt64, maximum: Int = 1000) throws(CommandError) -> (tasks: [TaskRecord], more: Bool) {
        let ticket = try Ticket { bh_session_history(handle, after, maximum, BH_START, nil, $0) }
        try ticket.wait(signals)
        let batch = try ticket.batch()
        return (batch.tasks(), batch.hasMore)
    }

    enum Control {
        case cancel
        case suspend
        case resume
        case priority(Int32)
        case rate(UInt64)
        case constraints(ConstraintsRecord)
        /// Unix times in milliseconds, as `bh_tasks_reschedule` takes them.
        case reschedule(earliest: Int64, latest: Int64)
    }

    /// - Returns: The number of changed tasks.
    func control(_ control: Control, _ selection: TaskSelection) throws(CommandError) -> UInt64 {
        let arena = CStringArena()
        var selection = selection.selection(arena)
        let ticket = try Ticket { error in
            switch control {
            case .cancel: bh_tasks_cancel(handle, &selection, BH_START, nil, error)
            case .suspend: bh_tasks_suspend(handle, &selection, BH_START, nil, error)
            case .resume: bh_tasks_resume(handle, &selection, BH_START, nil, error)
            case .priority(let value): bh_tasks_set_priority(handle, &selection, value, BH_START, nil, error)
            case .rate(let value): bh_tasks_set_rate(handle, &selection, value, BH_START, nil, error)
            case .constraints(let constraints):
                bh_tasks_set_constraints(
                    handle, &selection, arena.array([constraints.constraints(arena)]), BH_START, nil, error)
            case .reschedule(let earliest, let latest):
                bh_tasks_reschedule(handle, &selection, earliest, latest, BH_START, nil, error)
            }
        }
        try ticket.wait(signals)
        return try ticket.count()
    }

    /// The open challenges of the session: demands for a credential, new headers or a new URL.
    func challenges() throws(CommandError) -> [ChallengeRecord] {
        let ticket = try Ticket { bh_session_challenges(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().challenges()
    }

    func respond(_ challenge: UInt64, _ response: Response) throws(CommandError) {
        let arena = CStringArena()
        var challengeResponse = response.response(arena)
        let ticket = try Ticket { bh_session_respond(handle, challenge, &challengeResponse, BH_START, $0) }
        try ticket.wait(signals)
    }

    func claim(_ task: UInt64, destination: String, ifExists: Int) throws(CommandError) {
        let arena = CStringArena()
        let ticket = try Ticket { error in
            bh_task_claim(handle, task, arena.string(destination), Int32(ifExists), BH_START, error)
        }
        try ticket.wait(signals)
    }
}
