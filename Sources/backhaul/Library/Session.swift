import CBackhaul

/// An attached session. Its handle is freed with it.
final class Session {
    // Unsafe: an opaque handle of the library, never dereferenced here.
    private(set) var handle: OpaquePointer?
    let signals: Signals

    init(_ handle: OpaquePointer?, signals: Signals) {
        self.handle = handle
        self.signals = signals
    }

    deinit { close() }

    /// Makes room for the next reader of its events, whoever else still holds this object.
    func close() {
        bh_session_close(handle)
        handle = nil
    }

    /// Readable while events wait that were not handed out.
    func eventDescriptor() throws(CommandError) -> Int32 {
        var descriptor: Int32 = -1
        do { try check { error in bh_session_event_fd(handle, &descriptor, error) } } catch { throw .failure(error) }
        return descriptor
    }

    func configuration() throws(CommandError) -> ConfigurationRecord {
        let ticket = try Ticket { bh_session_get_configuration_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().withConfiguration { (configuration) throws(CommandError) in
            guard let configuration else {
                throw .stopped(.libraryFailed, "The library gave no configuration.")
            }
            return ConfigurationRecord(configuration)
        }
    }

    func update(_ settings: SessionSettings) throws(CommandError) {
        let reading = try Ticket { bh_session_get_configuration_start(handle, $0, $1) }
        try reading.wait(signals)
        let ticket = try reading.batch().withConfiguration { (remembered) throws(CommandError) in
            let arena = CStringArena()
            var configuration = settings.configuration(arena, over: remembered)
            return try Ticket { bh_session_update_start(handle, &configuration, $0, $1) }
        }
        try ticket.wait(signals)
    }

    /// A refusal names the transfer that it is about.
    func enqueue(_ transfers: [Transfer]) throws(CommandError) -> [HandedOver] {
        let arena = CStringArena()
        let requests = transfers.map { $0.request(arena) }
        do {
            let ticket = try Ticket { out, error in
                bh_session_enqueue_start(handle, requests, requests.count, MemoryLayout<bh_request>.stride, out, error)
            }
            try ticket.wait(signals)
            var results = ticket.enqueued(capacity: requests.count).map { HandedOver(taskID: $0.task_id) }
            for found in try ticket.batch().existingTasks() {
                let index = Int(clamping: found.request)
                if results.indices.contains(index) { results[index] = HandedOver(found) }
            }
            return results
        } catch {
            throw error.about(transfers)
        }
    }

    func poll(after: UInt64, maximum: Int = 1000) throws(CommandError) -> (events: [EventRecord], more: Bool) {
        let ticket = try Ticket { bh_session_poll_start(handle, after, maximum, $0, $1) }
        try ticket.wait(signals)
        let batch = try ticket.batch()
        return (batch.events(), batch.hasMore)
    }

    @discardableResult
    func acknowledge(_ ids: [UInt64]) throws(CommandError) -> UInt64 {
        if ids.isEmpty { return 0 }
        let ticket = try Ticket { bh_session_acknowledge_start(handle, ids, ids.count, $0, $1) }
        try ticket.wait(signals)
        return try ticket.count()
    }

    /// Those up to this one.
    func acknowledge(through id: UInt64) throws(CommandError) -> UInt64 {
        let ticket = try Ticket { bh_session_acknowledge_through_start(handle, id, $0, $1) }
        try ticket.wait(signals)
        return try ticket.count()
    }

    func complete() throws(CommandError) {
        let ticket = try Ticket { bh_session_complete_start(handle, $0, $1) }
        try ticket.wait(signals)
    }

    func tasks(
        _ selection: TaskSelection = TaskSelection(), after: UInt64 = 0, maximum: Int = 1000
    ) throws(CommandError) -> (tasks: [TaskRecord], more: Bool) {
        let arena = CStringArena()
        var selection = selection.selection(arena)
        let ticket = try Ticket { bh_session_tasks_start(handle, &selection, after, maximum, $0, $1) }
        try ticket.wait(signals)
        let batch = try ticket.batch()
        return (batch.tasks(), batch.hasMore)
    }

    func task(_ id: UInt64) throws(CommandError) -> TaskRecord {
        let ticket = try Ticket { bh_task_info_start(handle, id, $0, $1) }
        try ticket.wait(signals)
        guard let task = try ticket.batch().tasks().first else { throw .stopped(.notFound, "There is no task \(id).") }
        return task
    }

    /// Of a task that is listed or in the history.
    func attempts(_ task: UInt64) throws(CommandError) -> [AttemptRecord] {
        let ticket = try Ticket { bh_task_attempts_start(handle, task, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().attempts()
    }

    /// Tasks whose end was acknowledged.
    func history(after: UInt64, maximum: Int = 1000) throws(CommandError) -> (tasks: [TaskRecord], more: Bool) {
        let ticket = try Ticket { bh_session_history_start(handle, after, maximum, $0, $1) }
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

    /// - Returns: how many tasks changed.
    func control(_ control: Control, _ selection: TaskSelection) throws(CommandError) -> UInt64 {
        let arena = CStringArena()
        var selection = selection.selection(arena)
        let ticket = try Ticket { out, error in
            switch control {
            case .cancel: bh_tasks_cancel_start(handle, &selection, out, error)
            case .suspend: bh_tasks_suspend_start(handle, &selection, out, error)
            case .resume: bh_tasks_resume_start(handle, &selection, out, error)
            case .priority(let value): bh_tasks_set_priority_start(handle, &selection, value, out, error)
            case .rate(let value): bh_tasks_set_rate_start(handle, &selection, value, out, error)
            case .constraints(let constraints):
                bh_tasks_set_constraints_start(handle, &selection, arena.array([constraints.policy(arena)]), out, error)
            case .reschedule(let earliest, let latest):
                bh_tasks_reschedule_start(handle, &selection, earliest, latest, out, error)
            }
        }
        try ticket.wait(signals)
        return try ticket.count()
    }

    /// Those that are open.
    func challenges() throws(CommandError) -> [ChallengeRecord] {
        let ticket = try Ticket { bh_session_challenges_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().challenges()
    }

    func respond(_ challenge: UInt64, _ response: Response) throws(CommandError) {
        let arena = CStringArena()
        var answer = response.response(arena)
        let ticket = try Ticket { bh_session_respond_start(handle, challenge, &answer, $0, $1) }
        try ticket.wait(signals)
    }

    func claim(_ task: UInt64, destination: String, ifExists: Int) throws(CommandError) {
        let arena = CStringArena()
        let ticket = try Ticket { out, error in
            bh_task_claim_start(handle, task, arena.string(destination), Int32(ifExists), out, error)
        }
        try ticket.wait(signals)
    }
}
