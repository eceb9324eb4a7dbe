internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulWire
internal import Glibc

/// The options of a worker.
public struct WorkerOptions: Sendable {
    public var address: DatabaseAddress
    /// The name of the worker in listings, such as the name of its machine.
    public var name: String
    /// The directory of the worker's local store.
    public var directory: String
    /// After this time without a renewal, other workers run the tasks of this worker.
    public var leaseMilliseconds: Int64 = 30_000
    /// Called with a sentence for the log of the worker.
    public var log: @Sendable (String) -> Void = { _ in }

    public init(address: DatabaseAddress, name: String, directory: String) {
        self.address = address
        self.name = name
        self.directory = directory
    }
}

/// A worker of a fleet. It claims tasks from the database, downloads their files with a local engine, gives the files
/// their final names, and reports the ends. One thread uses it.
public final class Worker {
    private struct RunningTask {
        var origin: Int64
        var request: Request
        /// Whether the local engine has the run.
        var isStarted = false
        /// Whether its host wants it to be suspended; nil if the host wants nothing.
        var suspends: Bool?
    }

    private let options: WorkerOptions
    private let identity: WorkerIdentity
    private let fleet: String
    private let local: LocalEngine
    private var database: DatabaseConnection?
    private var lease: LeaseClock
    private var running: [TaskRun: RunningTask] = [:]
    private var isDraining = false
    /// How many workers the fleet had at the last renewal.
    private var workers: Int64 = 1
    /// What the last step failed with. While it stays the same, it is logged once.
    private var lastError: FleetError?
    /// Whether the local transfers are suspended, because the lease may have ended. At the start, transfers of the
    /// worker's earlier process count as suspended.
    private var isSuspended = true

    /// The ends of the pauses that are in the database, by origin, in Unix milliseconds.
    private var pauses: [Int64: Int64] = [:]
    private var pauseCheck = Deadline.after(milliseconds: 0)

    /// The most tasks of each origin that ran together since the last renewal. The worker keeps so many permits: if it
    /// gave one back between two tasks, another worker would open a connection, and this one still has an idle one.
    private var mostRunning: [Int64: Int64] = [:]

    /// The origin whose turn was the last one.
    private var lastOrigin: Int64 = 0

    /// How long a worker that starts waits for its database.
    private static let startMilliseconds: Int64 = 30_000
    private static let pauseCheckMilliseconds: Int64 = 1_000

    /// Connects to the database, and opens the local store. Returns nil if it is stopped while it waits for the
    /// database.
    public init?(_ options: WorkerOptions, isStopped: () -> Bool) throws(FleetError) {
        self.options = options
        lease = LeaseClock(leaseMilliseconds: options.leaseMilliseconds)
        guard let connection = try Self.connect(options, isStopped: isStopped) else { return nil }
        database = connection
        fleet = try Schema.fleet(connection)
        identity = try WorkerIdentity(directory: options.directory, fleet: fleet)
        local = try LocalEngine(store: options.directory + "/store")
    }

    private static func connect(
        _ options: WorkerOptions, isStopped: () -> Bool
    ) throws(FleetError) -> DatabaseConnection? {
        var wait = RemoteStoreWait(milliseconds: startMilliseconds, hasWorked: false)
        while !isStopped() {
            do throws(FleetError) {
                return try connect(options)
            } catch {
                guard wait.continues(after: error.failure, isAway: { DatabaseConnection.isAway(options.address) })
                else { throw error }
                usleep(UInt32(RemoteStoreWait.pauseMilliseconds * 1_000))
            }
        }
        return nil
    }

    /// A renewal that fails leaves time for another one.
    private static func connect(_ options: WorkerOptions) throws(FleetError) -> DatabaseConnection {
        try Schema.open(options.address, replyMilliseconds: options.leaseMilliseconds / 3)
    }

    /// Works until `isStopped`, or until the worker was drained. Tasks that still run continue when the worker starts
    /// again in the same directory, or on another worker when the lease has ended.
    public func run(isStopped: () -> Bool) {
        while !isStopped(), !(isDraining && running.isEmpty) {
            do throws(FleetError) {
                try step()
                lastError = nil
            } catch {
                if error != lastError { options.log(error.failure.message) }
                lastError = error
                if database?.isLost == true || error.isConnectionEnd { database = nil }
                suspendWithoutLease()
                local.wait(milliseconds: lease.waitMilliseconds(workers: workers))
            }
        }
        local.close()
        if running.isEmpty, let queue = try? queue() { try? queue.unregister() }
    }

    /// Does what is due, and waits for a short time until something happens.
    func step() throws(FleetError) {
        let queue = try queue()
        if lease.isDue(at: Clock.bootMilliseconds) { try renew(queue) }
        try applyControls(queue)
        try reportPauses(queue)
        try report(local.endedRuns(), queue)
        if !isDraining { try claim(queue) }
        local.wait(milliseconds: lease.waitMilliseconds(workers: workers))
    }

    private func queue() throws(FleetError) -> WorkerQueue {
        if let database { return WorkerQueue(database, worker: identity.id) }
        let connection = try Self.connect(options)
        database = connection
        return WorkerQueue(connection, worker: identity.id)
    }

    // MARK: The lease

    private func renew(_ queue: WorkerQueue) throws(FleetError) {
        let sent = Clock.bootMilliseconds
        let renewal = try queue.renew(name: options.name, leaseMilliseconds: options.leaseMilliseconds)
        (isDraining, workers) = (renewal.isDraining, renewal.workers)
        lease.renewed(sentAt: sent)
        try continueOwnTasks(queue)
        try queue.releaseExpired()
        try complete(queue.ownPublishing() + queue.takeOver(), queue)
        try queue.releasePermits(running: mostRunning)
        mostRunning = runningByOrigin
        try queue.removeOld()
    }

    /// Compares the local runs with those of the database: other workers may have claimed tasks of this worker, or this
    /// process may have been restarted.
    private func continueOwnTasks(_ queue: WorkerQueue) throws(FleetError) {
        let own = try queue.ownTasks()
        let runs = Set(own.map(\.run))
        let isSteady = !isSuspended && runs == Set(running.keys) && running.values.allSatisfy(\.isStarted)
        guard !isSteady else { return }
        running = running.filter { runs.contains($0.key) }
        try local.control(.cancel) { !runs.contains($0) }
        if isSuspended { try local.control(.resume) { runs.contains($0) } }
        isSuspended = false
        try start(own.filter { running[$0.run]?.isStarted != true }, queue)
    }

    /// Without a lease, other workers may use the connections of this worker.
    private func suspendWithoutLease() {
        guard !isSuspended, !lease.mayPublish(at: Clock.bootMilliseconds) else { return }
        isSuspended = (try? local.control(.suspend) { _ in true }) != nil
    }

    // MARK: Claims

    private var runningByOrigin: [Int64: Int64] {
        Dictionary(running.values.map { ($0.origin, 1) }, uniquingKeysWith: +)
    }

    private func claim(_ queue: WorkerQueue) throws(FleetError) {
        guard try queue.queueDue() else { return }
        let origins = try queue.origins(after: lastOrigin, running: runningByOrigin)
        for (origin, isOpen) in origins {
            guard lease.mayPublish(at: Clock.bootMilliseconds) else { return }
            lastOrigin = origin
            guard isOpen else { continue }
            let running = running.values.count { $0.origin == origin }
            try start(queue.claim(from: origin, running: Int64(running)), queue)
        }
        if origins.count < WorkerQueue.originBatch { lastOrigin = 0 }
    }

    private func start(_ tasks: [ClaimedTask], _ queue: WorkerQueue) throws(FleetError) {
        guard !tasks.isEmpty else { return }
        for task in tasks { running[task.run] = RunningTask(origin: task.origin, request: task.request) }
        mostRunning.merge(runningByOrigin, uniquingKeysWith: max)
        let configured = try configureSessions(of: tasks, queue)
        for task in tasks {
            do throws(FleetError) {
                guard configured.contains(task.session) else {
                    throw FleetError(.invalidArgument, "the configuration of the task's session cannot be read")
                }
                try local.start(task)
                running[task.run]?.isStarted = true
            } catch where error.failure.status == .invalidArgument {
                try end([RunEnd(task.run, Outcome(state: .failed, failure: error.failure))], queue)
            } catch {
                // This machine lacks something, such as memory. Another worker may run the task.
                running[task.run] = nil
                try queue.putBack(task.run)
                throw error
            }
        }
    }

    /// Gives the local engine the sessions of the tasks. Returns those that have a readable configuration.
    private func configureSessions(of tasks: [ClaimedTask], _ queue: WorkerQueue) throws(FleetError) -> Set<SessionID> {
        let stored = try queue.configurations(of: Set(tasks.map(\.session)).sorted())
        var configured: Set<SessionID> = []
        for (session, bytes) in stored {
            if !local.hasSession(session, bytes) {
                guard let configuration = try? Wire.decodeConfiguration(bytes) else { continue }
                try local.configure(session, configuration, stored: bytes)
            }
            configured.insert(session)
        }
        return configured
    }

    /// Cancels the running tasks that hosts have cancelled or suspended. Their ends then come from the local engine.
    private func applyControls(_ queue: WorkerQueue) throws(FleetError) {
        guard !running.isEmpty else { return }
        var wanted: [TaskRun: Bool] = [:]
        for (run, suspends) in try queue.wantedControls() {
            guard let task = running[run], task.isStarted, task.suspends == nil else { continue }
            wanted[run] = suspends
        }
        guard !wanted.isEmpty else { return }
        try local.control(.cancel) { wanted[$0] != nil }
        for (run, suspends) in wanted { running[run]?.suspends = suspends }
    }

    /// Lets no worker start tasks at an origin whose server has asked for a pause.
    private func reportPauses(_ queue: WorkerQueue) throws(FleetError) {
        guard !running.isEmpty, pauseCheck.hasPassed else { return }
        pauseCheck = .after(milliseconds: Self.pauseCheckMilliseconds)
        let now = Clock.wallMilliseconds
        pauses = pauses.filter { $0.value > now }
        for (run, end) in try local.pauses() {
            guard let origin = running[run]?.origin, end > max(now, pauses[origin] ?? 0) else { continue }
            try OriginLimits(database: queue.database, origin: origin).pause(milliseconds: end - now)
            pauses[origin] = end
        }
    }

    // MARK: Ends

    /// A run with a complete temporary file.
    private struct ReadyRun {
        var publication: Publication
        var decided: DecidedEnd
        var run: TaskRun { decided.end.run }
    }

    private func report(_ ended: [LocalEngine.EndedRun], _ queue: WorkerQueue) throws(FleetError) {
        var ends: [RunEnd] = []
        var ready: [ReadyRun] = []
        for one in ended {
            let publication = Publication(
                one.run, of: fleet, destination: one.destination,
                replaces: running[one.run]?.request.ifExists == .replace)
            switch (running[one.run], one.outcome.state) {
            case (nil, _): publication.removeTemporaryFile()
            case (let task?, .cancelled) where task.suspends == true:
                try queue.putBack(one.run)
                running[one.run] = nil
            case (_, .succeeded):
                do throws(FleetError) {
                    if let run = try prepare(one, publication) { ready.append(run) }
                } catch where error.failure.status != .timeout && !error.failure.isTemporaryShortage {
                    ends.append(RunEnd(one.run, Outcome(state: .failed, failure: error.failure)))
                }
            case (let task?, .cancelled) where task.suspends == false: ends.append(RunEnd(one.run, .cancelled))
            default: ends.append(RunEnd(one.run, one.outcome))
            }
        }
        let placed = try publish(ready, queue)
        try end(ends + placed.map(\.decided.end), queue)
        for run in placed { run.publication.removeTemporaryFiles() }
        try local.forget(ended)
    }

    /// Moves the file of the run to its temporary name. Returns nil if the file has its final name already.
    private func prepare(
        _ ended: LocalEngine.EndedRun, _ publication: Publication
    ) throws(FleetError) -> ReadyRun? {
        try local.claim(ended, to: publication.temporaryPath)
        guard let inode = publication.temporaryInode else {
            // After the next renewal, this worker completes the publication.
            running[ended.run] = nil
            return nil
        }
        var outcome = ended.outcome
        outcome.path = ended.destination
        return ReadyRun(
            publication: publication, decided: DecidedEnd(RunEnd(ended.run, outcome), inode: inode))
    }

    /// Decides the ends of the runs, and gives their files the final names. Returns the runs whose ends are to be
    /// reported.
    private func publish(_ ready: [ReadyRun], _ queue: WorkerQueue) throws(FleetError) -> [ReadyRun] {
        let decided = try queue.publish(ready.map(\.decided))
        var placed: [ReadyRun] = []
        for var run in ready {
            guard decided.contains(run.run) else {
                run.publication.removeTemporaryFile()
                running[run.run] = nil
                continue
            }
            running[run.run]?.suspends = nil
            guard let end = place(run.publication, run.decided.end) else { continue }
            run.decided.end = end
            placed.append(run)
        }
        return placed
    }

    /// Gives a file whose run has decided its end the final name. Returns the end that is to be reported; nil if this
    /// worker must not report it now.
    private func place(_ publication: Publication, _ decided: RunEnd) -> RunEnd? {
        // After the next renewal, this worker completes the publication, if no other worker has done so.
        let placement = lease.mayPublish(at: Clock.bootMilliseconds) ? publication.place() : .gone
        switch placement {
        case .placed: return decided
        case .failed(let failure): return RunEnd(decided.run, Outcome(state: .failed, failure: failure))
        case .gone:
            running[decided.run] = nil
            return nil
        }
    }

    /// Completes the publications of workers that were lost, or of this worker's earlier process.
    private func complete(_ tasks: [PublishingTask], _ queue: WorkerQueue) throws(FleetError) {
        var ends: [RunEnd] = []
        var placed: [Publication] = []
        for task in tasks {
            let publication = Publication(
                task.run, of: fleet, destination: task.request.destination?.path ?? "",
                replaces: task.request.ifExists == .replace)
            let decided = RunEnd(task.run, task.outcome)
            switch publication.adopt(from: task.firstRun) {
            case .adopted:
                guard let end = place(publication, decided) else { continue }
                ends.append(end)
                placed.append(publication)
            case .missing where publication.destinationInode == task.inode: ends.append(decided)
            case .missing:
                options.log("the file of task \(task.run.task.rawValue) was lost, so the task is downloaded again")
                try queue.putBack(task.run)
            case .unavailable(let failure):
                // A second download could give the file its name twice. The next renewal tries again.
                options.log("the publication of task \(task.run.task.rawValue) waits: \(failure.message)")
            }
        }
        try end(ends, queue)
        for publication in placed { publication.removeTemporaryFiles() }
    }

    private func end(_ ends: [RunEnd], _ queue: WorkerQueue) throws(FleetError) {
        guard !ends.isEmpty else { return }
        let ended = try queue.end(ends)
        for end in ends {
            if !ended.contains(end.run) { options.log("the end of run \(end.run.text) has no effect: the run is old") }
            running[end.run] = nil
        }
    }
}
