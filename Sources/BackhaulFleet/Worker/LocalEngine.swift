internal import BackhaulClient
internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform

/// The local engine of a worker, which runs in the worker's process. It has one session for each session of the fleet,
/// and downloads each run of a task as a kept file, under the key of the run.
final class LocalEngine {
    /// How long a command may wait for the engine, for example while a slow disk syncs.
    private static let commandMilliseconds: Int64 = 60_000

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

    /// Opens the store in this directory, and attaches the sessions of the worker's earlier process.
    init(store: String) throws(FleetError) {
        client = try FleetError.wrapping(
            try ApplicationClient.open(
                ApplicationOptions(application: "backhaul.fleet.worker", storePath: store, hosting: .embedded),
                until: .after(milliseconds: Self.commandMilliseconds)))
        guard case .sessions(let infos) = try reply(to: client.submit(.sessions)) else { return }
        for info in infos where info.identifier.hasPrefix("fleet-") {
            guard let number = UInt64(info.identifier.dropFirst("fleet-".count)) else { continue }
            let session = try session(client.attachSession(info.identifier, .consume))
            sessions[SessionID(rawValue: number)] = (session, [])
        }
    }

    /// Waits until a run has ended, or the time has passed.
    func wait(milliseconds: Int64) { _ = try? client.poll(until: .after(milliseconds: milliseconds)) }

    func close() { client.close() }

    // MARK: Runs

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

    /// Enqueues the run, unless an earlier process of the worker has done so.
    func start(_ task: ClaimedTask) throws(FleetError) {
        var request = task.request
        let destination = request.destination?.path ?? ""
        request.destination = nil
        request.ifExists = .fail
        request.startsSuspended = false
        request.idempotencyKey = task.run.text
        request.userData = Array("\(task.run.text)\n\(destination)".utf8)
        guard let session = sessions[task.session]?.client else {
            throw FleetError(.internal, "the session of the task is not open in the local engine")
        }
        let ticket = session.enqueue([request])
        switch ticket.wait(until: .after(milliseconds: Self.commandMilliseconds)) {
        case .enqueued(_, nil): return
        case .enqueued(_, let failure?), .reply(.failed(let failure)): throw FleetError(failure)
        default: throw FleetError(client.timeoutFailure())
        }
    }

    /// The runs whose ends the worker has not reported yet.
    func endedRuns() throws(FleetError) -> [EndedRun] {
        var ended: [EndedRun] = []
        for (number, session) in sessions.sorted(by: { $0.key < $1.key }) {
            guard case .events(let events, _) = try reply(to: session.client.poll(after: .zero, maximum: 64)) else {
                continue
            }
            for event in events {
                guard case .taskEnded(let task) = event.kind, let named = Self.named(task.userData) else {
                    _ = try reply(to: session.client.acknowledge(.ids([event.id])))
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

    /// Moves the file of the run out of the store. If it is there already, does nothing.
    func claim(_ ended: EndedRun, to path: String) throws(FleetError) {
        guard let session = sessions[ended.session]?.client else { return }
        let destination = try FleetError.wrapping(try DestinationCheck.check(path: path, ifExists: .replace))
        _ = try reply(to: session.submit { .claim($0, ended.localTask, destination, .replace) })
    }

    /// Forgets the runs, whose ends are reported. Files that were not claimed are removed.
    func forget(_ ended: [EndedRun]) throws(FleetError) {
        for (number, runs) in Dictionary(grouping: ended, by: \.session) {
            guard let session = sessions[number]?.client else { continue }
            _ = try reply(to: session.acknowledge(.ids(runs.map(\.event))))
        }
    }

    /// Applies the control to the live runs that `isSelected` selects.
    func control(_ control: TaskControl, where isSelected: (TaskRun) -> Bool) throws(FleetError) {
        for (_, session) in sessions {
            var live = TaskSelection()
            live.states = .live
            guard case .tasks(let tasks, _) = try reply(to: session.client.tasks(live, after: .zero, maximum: 10_000))
            else { continue }
            let ids = tasks.filter { Self.named($0.userData).map { isSelected($0.run) } ?? true }.map(\.id)
            guard !ids.isEmpty else { continue }
            _ = try reply(to: session.client.control(control, TaskSelection(ids: ids)))
        }
    }

    /// The runs that wait because their servers have asked for a pause, with the ends of the pauses in Unix
    /// milliseconds.
    func pauses() throws(FleetError) -> [(run: TaskRun, end: Int64)] {
        var pauses: [(run: TaskRun, end: Int64)] = []
        for (_, session) in sessions {
            var waiting = TaskSelection()
            waiting.states = TaskStates(.waiting)
            guard case .tasks(let tasks, _) = try reply(to: session.client.tasks(waiting, after: .zero, maximum: 1_000))
            else { continue }
            for task in tasks where task.reason == .origin && task.nextAttemptMilliseconds > 0 {
                guard let run = Self.named(task.userData)?.run else { continue }
                pauses.append((run, task.nextAttemptMilliseconds))
            }
        }
        return pauses
    }

    // MARK: Replies

    private func reply(to ticket: Ticket) throws(FleetError) -> Reply {
        switch ticket.wait(until: .after(milliseconds: Self.commandMilliseconds)) {
        case .reply(.failed(let failure)): throw FleetError(failure)
        case .reply(let reply): return reply
        default: throw FleetError(client.timeoutFailure())
        }
    }

    private func session(_ ticket: Ticket) throws(FleetError) -> SessionClient {
        switch ticket.wait(until: .after(milliseconds: Self.commandMilliseconds)) {
        case .session(let session, _): return session
        case .reply(.failed(let failure)): throw FleetError(failure)
        default: throw FleetError(client.timeoutFailure())
        }
    }
}
