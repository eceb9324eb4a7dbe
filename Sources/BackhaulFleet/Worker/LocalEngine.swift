internal import BackhaulClient
internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform

/// The local engine of a worker, which runs in the worker's process. It has one session for each session of the fleet,
/// and downloads each run of a task as a kept file. The user data of the local task names the run.
final class LocalEngine {
    /// How long a command may wait for the engine, for example while a slow disk syncs.
    private static let commandMilliseconds: Int64 = 60_000
    /// How long an end of the worker may wait for moves of files.
    private static let lastMovesMilliseconds: Int64 = 30_000
    /// The most tasks that run together.
    static let mostTasks = Int64(EngineLimits().maximumRunningTasks)
    /// The most tasks that run or wait together. They have a limit, because each step of the worker and each renewal of
    /// its lease reads all of them in the database.
    static let mostHeldTasks: Int64 = 4_096
    /// Reasons for which one task waits while others run. Reasons that concern all tasks of the machine, such as a full
    /// disk or a missing route, are not in the list, because the worker must not claim more tasks then.
    private static let reasonsOfTasks: Set<WaitReason> = [
        .retry, .origin, .throughput, .quietHours, .power, .battery, .metered, .network,
    ]

    struct EndedRun {
        var run: TaskRun
        /// The task in the local engine.
        var localTask: TaskID
        var session: SessionID
        /// The destination in the fleet.
        var destination: String
        var outcome: Outcome
        fileprivate var event: EventID
    }

    private let client: ApplicationClient
    private var sessions: [SessionID: (client: SessionClient, configuration: [UInt8])] = [:]
    /// The files that are being moved out of the store.
    private var moves: [TaskRun: Ticket] = [:]

    /// Opens the store in this directory, and attaches the sessions of the worker's earlier process.
    init(store: String) throws(FleetError) {
        client = try FleetError.wrapping(
            try ApplicationClient.open(
                ApplicationOptions(application: "backhaul.fleet.worker", storePath: store, hosting: .embedded),
                until: .after(milliseconds: Self.commandMilliseconds)))
        guard case .sessions(let infos, _) = try reply(to: client.sessions()) else { return }
        for info in infos where !info.isInvalidating {
            guard let number = FleetConfiguration.session(ofLocal: info.identifier) else { continue }
            sessions[number] = (try session(client.attachSession(info.identifier, .consume)), [])
        }
    }

    /// Waits until a run has ended, or the time has passed.
    func wait(milliseconds: Int64) { _ = try? client.poll(until: .after(milliseconds: milliseconds)) }

    func close() { client.close() }

    // MARK: Sessions

    var knownSessions: [SessionID] { sessions.keys.sorted() }

    /// Whether the engine's session has this configuration.
    func hasSession(_ session: SessionID, _ stored: [UInt8]) -> Bool { sessions[session]?.configuration == stored }

    /// Creates the session, or gives it the configuration.
    func configure(_ session: SessionID, _ configuration: SessionConfiguration, stored: [UInt8]) throws(FleetError) {
        let local = FleetConfiguration.local(configuration, of: session)
        if let known = sessions[session]?.client {
            _ = try reply(to: known.submit { .updateConfiguration($0, local) })
            sessions[session]?.configuration = stored
        } else {
            sessions[session] = (try self.session(client.createSession(local, .consume)), stored)
        }
    }

    /// Removes a session that the fleet does not have any more. A session with tasks or events stays until the worker
    /// has cancelled and forgotten them.
    func remove(_ session: SessionID) throws(FleetError) {
        guard let client = sessions[session]?.client,
            case .tasks(let tasks, _) = try reply(to: client.tasks(TaskSelection(), after: .zero, maximum: 1)),
            case .events(let events, _) = try reply(to: client.poll(after: .zero, maximum: 1)),
            tasks.isEmpty, events.isEmpty
        else { return }
        _ = try reply(to: client.submit { .invalidate($0, cancelTasks: true) })
        sessions[session] = nil
    }

    // MARK: Runs

    /// The runs that the engine has, from this process or an earlier one, and that are not forgotten.
    func runs() throws(FleetError) -> Set<TaskRun> {
        Set(try tasks(TaskSelection()).compactMap { Self.named($0.userData)?.run })
    }

    private func tasks(_ selection: TaskSelection) throws(FleetError) -> [TaskInfo] {
        var all: [TaskInfo] = []
        for (_, session) in sessions { all += try tasks(selection, of: session.client) }
        return all
    }

    private func tasks(_ selection: TaskSelection, of session: SessionClient) throws(FleetError) -> [TaskInfo] {
        var all: [TaskInfo] = []
        while case .tasks(let tasks, let more) = try reply(
            to: session.tasks(selection, after: all.last?.id ?? .zero, maximum: 10_000))
        {
            all += tasks
            if !more || tasks.isEmpty { break }
        }
        return all
    }

    /// Enqueues the run. Without a key: the engine would keep the keys of all runs while the session has tasks.
    func start(_ task: ClaimedTask) throws(FleetError) {
        var request = task.request
        let destination = request.destination?.path ?? ""
        request.destination = nil
        request.ifExists = .fail
        request.startsSuspended = false
        request.idempotencyKey = nil
        // The time has come by the clock of the database. The clock of this machine may be behind.
        request.options.earliestStartMilliseconds = nil
        request.userData = Array("\(task.run.text)\n\(destination)".utf8)
        guard let session = sessions[task.session]?.client else {
            throw FleetError(.internal, "the session of the task is not open in the local engine")
        }
        _ = try outcome(of: session.enqueue([request]))
    }

    /// The runs whose ends the worker has not reported yet.
    func endedRuns() throws(FleetError) -> [EndedRun] {
        var ended: [EndedRun] = []
        for (number, session) in sessions.sorted(by: { $0.key < $1.key }) {
            guard case .events(let events, _) = try reply(to: session.client.poll(after: .zero, maximum: 1_000)) else {
                continue
            }
            for event in events {
                guard case .taskEnded(let task) = event.kind, let named = Self.named(task.userData) else {
                    // If the store is full, the event is read again.
                    _ = try? reply(to: session.client.acknowledge(.ids([event.id])))
                    continue
                }
                ended.append(
                    EndedRun(
                        run: named.run, localTask: task.id, session: number, destination: named.destination,
                        outcome: task.outcome, event: event.id))
            }
        }
        return ended
    }

    private static func named(_ userData: [UInt8]?) -> (run: TaskRun, destination: String)? {
        let lines = String(decoding: userData ?? [], as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard lines.count == 2, let run = TaskRun(String(lines[0])) else { return nil }
        return (run, String(lines[1]))
    }

    /// Moves the file of the run out of the store. If it is there already, does nothing. Returns false if the file is
    /// still being moved at the deadline: a copy to another file system can take longer than a lease.
    func claim(_ ended: EndedRun, to path: String, until deadline: Deadline) throws(FleetError) -> Bool {
        guard let session = sessions[ended.session]?.client else { return true }
        if moves[ended.run] == nil {
            let destination = try FleetError.wrapping(try DestinationCheck.check(path: path, ifExists: .replace))
            moves[ended.run] = session.submit { .claim($0, ended.localTask, destination, .replace) }
        }
        guard let outcome = moves[ended.run]?.wait(until: deadline) else { return false }
        moves[ended.run] = nil
        if case .reply(.failed(let failure)) = outcome { throw FleetError(failure) }
        return true
    }

    /// Whether the file of the run is being moved.
    func isMoving(_ run: TaskRun) -> Bool { moves[run].map { !$0.isCompleted } ?? false }

    var hasEndedMoves: Bool { moves.values.allSatisfy(\.isCompleted) }

    /// An interrupted copy to another file system would stay beside the destination.
    func waitForMoves() {
        let deadline = Deadline.after(milliseconds: Self.lastMovesMilliseconds)
        for move in moves.values { _ = move.wait(until: deadline) }
    }

    /// Forgets the runs, whose ends are reported. Files that were not claimed are removed.
    func forget(_ ended: [EndedRun]) throws(FleetError) {
        for (number, runs) in Dictionary(grouping: ended, by: \.session) {
            guard let session = sessions[number]?.client else { continue }
            _ = try reply(to: session.acknowledge(.ids(runs.map(\.event))))
            for ended in runs { moves[ended.run] = nil }
        }
    }

    /// Applies the control to the live runs that `isSelected` selects.
    func control(_ control: TaskControl, where isSelected: (TaskRun) -> Bool) throws(FleetError) {
        for (_, session) in sessions {
            let live = try tasks(TaskSelection(states: .live), of: session.client)
            let ids = live.filter { Self.named($0.userData).map { isSelected($0.run) } ?? true }.map(\.id)
            guard !ids.isEmpty else { continue }
            _ = try reply(to: session.client.control(control, TaskSelection(ids: ids)))
        }
    }

    /// The runs that wait and need no slot. If a server has asked for a pause, `pauseEnd` is the end of the pause in
    /// Unix milliseconds.
    func waitingRuns() throws(FleetError) -> [(run: TaskRun, pauseEnd: Int64?)] {
        try tasks(TaskSelection(states: TaskStates(.waiting))).compactMap { task in
            guard Self.reasonsOfTasks.contains(task.reason), let named = Self.named(task.userData) else { return nil }
            let isPause = task.reason == .origin && task.nextAttemptMilliseconds > 0
            return (named.run, isPause ? task.nextAttemptMilliseconds : nil)
        }
    }

    // MARK: Replies

    private func outcome(of ticket: Ticket) throws(FleetError) -> Ticket.Outcome {
        switch ticket.wait(until: .after(milliseconds: Self.commandMilliseconds)) {
        case .enqueued(_, let failure?), .reply(.failed(let failure)): throw FleetError(failure)
        case let outcome?: return outcome
        case nil: throw FleetError(client.timeoutFailure())
        }
    }

    private func reply(to ticket: Ticket) throws(FleetError) -> Reply {
        guard case .reply(let reply) = try outcome(of: ticket) else { throw FleetError(client.timeoutFailure()) }
        return reply
    }

    private func session(_ ticket: Ticket) throws(FleetError) -> SessionClient {
        guard case .session(let session, _) = try outcome(of: ticket) else { throw FleetError(client.timeoutFailure()) }
        return session
    }
}
