internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulWire

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
    /// Whether the local transfers are suspended, because the lease may have ended. At the start, transfers of the
    /// worker's earlier process count as suspended.
    private var isSuspended = true

    /// The ends of the pauses that are in the database, by origin, in Unix milliseconds.
    private var pauses: [Int64: Int64] = [:]
    private var pauseCheck = Deadline.after(milliseconds: 0)

    private static let waitMilliseconds: Int64 = 200
    private static let pauseCheckMilliseconds: Int64 = 1_000

    public init(_ options: WorkerOptions) throws(FleetError) {
        self.options = options
        lease = LeaseClock(leaseMilliseconds: options.leaseMilliseconds)
        let database = try DatabaseConnection(options.address)
        try Schema.check(database)
        self.database = database
        fleet = try Schema.fleet(database)
        identity = try WorkerIdentity(directory: options.directory, fleet: fleet)
        local = try LocalEngine(store: options.directory + "/store")
    }

    /// Works until `isStopped`, or until the worker was drained. Tasks that still run continue when the worker starts
    /// again in the same directory, or on another worker when the lease has ended.
    public func run(isStopped: () -> Bool) {
        while !isStopped(), !(isDraining && running.isEmpty) {
            do throws(FleetError) {
                try step()
            } catch {
                options.log(error.failure.message)
                if database?.isLost == true || error.isConnectionEnd { database = nil }
                suspendWithoutLease()
                local.wait(milliseconds: Self.waitMilliseconds)
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
        for ended in try local.endedRuns() { try report(ended, queue) }
        if !isDraining { try claim(queue) }
        local.wait(milliseconds: Self.waitMilliseconds)
    }

    private func queue() throws(FleetError) -> WorkerQueue {
        if let database { return WorkerQueue(database, worker: identity.id) }
        let connection = try DatabaseConnection(options.address)
        database = connection
        return WorkerQueue(connection, worker: identity.id)
    }

    // MARK: The lease

    private func renew(_ queue: WorkerQueue) throws(FleetError) {
        let sent = Clock.bootMilliseconds
        isDraining = try queue.renew(name: options.name, leaseMilliseconds: options.leaseMilliseconds)
        lease.renewed(sentAt: sent)
        try continueOwnTasks(queue)
        try queue.releaseExpired()
        for task in try queue.ownPublishing() + queue.takeOver() { try complete(task, queue) }
        try queue.releasePermits(running: runningByOrigin)
        try queue.removeOld()
    }

    /// Compares the local runs with those of the database: other workers may have claimed tasks of this worker, or this
    /// process may have been restarted.
    private func continueOwnTasks(_ queue: WorkerQueue) throws(FleetError) {
        let own = try queue.ownTasks()
        let runs = Set(own.map(\.run))
        let isSteady = !isSuspended && runs == Set(running.keys)
        guard !isSteady else { return }
        running = running.filter { runs.contains($0.key) }
        try local.control(.cancel) { !runs.contains($0) }
        if isSuspended { try local.control(.resume) { runs.contains($0) } }
        isSuspended = false
        try start(own.filter { running[$0.run] == nil }, queue)
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
        var visited: [Int64] = []
        while lease.mayPublish(at: Clock.bootMilliseconds),
            let claimed = try queue.claim(running: runningByOrigin, except: visited)
        {
            visited.append(claimed.origin)
            try start(claimed.tasks, queue)
        }
    }

    private func start(_ tasks: [ClaimedTask], _ queue: WorkerQueue) throws(FleetError) {
        for task in tasks { running[task.run] = RunningTask(origin: task.origin, request: task.request) }
        let sessions = Set(tasks.map(\.session)).sorted()
        for (session, stored) in try queue.configurations(of: sessions) where !local.hasSession(session, stored) {
            do throws(Failure) {
                try startSession(session, try Wire.decodeConfiguration(stored), stored)
            } catch {
                throw FleetError(error)
            }
        }
        for task in tasks {
            do throws(FleetError) {
                try local.start(task)
            } catch where error.failure.status == .invalidArgument {
                try end(task.run, Outcome(state: .failed, failure: error.failure), queue)
            } catch {
                // This machine lacks something, such as memory. Another worker may run the task.
                running[task.run] = nil
                try queue.putBack(task.run)
                throw error
            }
        }
    }

    private func startSession(
        _ session: SessionID, _ configuration: SessionConfiguration, _ stored: [UInt8]
    ) throws(Failure) {
        do throws(FleetError) {
            try local.configure(session, configuration, stored: stored)
        } catch {
            throw error.failure
        }
    }

    /// Cancels the running tasks that hosts have cancelled or suspended. Their ends then come from the local engine.
    private func applyControls(_ queue: WorkerQueue) throws(FleetError) {
        guard !running.isEmpty else { return }
        var wanted: Set<TaskRun> = []
        for (run, suspends) in try queue.wantedControls() where running[run]?.suspends == nil {
            running[run]?.suspends = suspends
            wanted.insert(run)
        }
        guard !wanted.isEmpty else { return }
        try local.control(.cancel) { wanted.contains($0) }
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

    private func report(_ ended: LocalEngine.EndedRun, _ queue: WorkerQueue) throws(FleetError) {
        let publication = Publication(
            ended.run, of: fleet, destination: ended.destination,
            replaces: running[ended.run]?.request.ifExists == .replace)
        guard let task = running[ended.run] else {
            publication.removeTemporaryFile()
            return try local.forget(ended)
        }
        if task.suspends != nil, ended.outcome.state == .cancelled {
            if task.suspends == true { try queue.putBack(ended.run) }
            if task.suspends == false { _ = try queue.end(ended.run, .cancelled) }
            running[ended.run] = nil
        } else if ended.outcome.state == .succeeded {
            try publish(ended, publication, queue)
        } else {
            try end(ended.run, ended.outcome, queue)
        }
        try local.forget(ended)
    }

    private func publish(
        _ ended: LocalEngine.EndedRun, _ publication: Publication, _ queue: WorkerQueue
    ) throws(FleetError) {
        do throws(FleetError) {
            try local.claim(ended, to: publication.temporaryPath)
        } catch where error.failure.status != .timeout && !error.failure.isTemporaryShortage {
            return try end(ended.run, Outcome(state: .failed, failure: error.failure), queue)
        }
        var outcome = ended.outcome
        outcome.path = ended.destination
        guard let inode = publication.temporaryInode, try queue.publish(ended.run, outcome, inode: inode) else {
            publication.removeTemporaryFile()
            running[ended.run] = nil
            return
        }
        running[ended.run]?.suspends = nil
        try place(publication, ended.run, outcome, queue)
    }

    /// Gives the file its final name, and reports the end. The end of the run is decided.
    private func place(
        _ publication: Publication, _ run: TaskRun, _ outcome: Outcome, _ queue: WorkerQueue
    ) throws(FleetError) {
        guard lease.mayPublish(at: Clock.bootMilliseconds) else {
            // After the next renewal, this worker completes the publication, if no other worker has done so.
            running[run] = nil
            return
        }
        switch publication.place() {
        case .placed: try end(run, outcome, queue)
        case .gone: running[run] = nil
        case .failed(let failure): try end(run, Outcome(state: .failed, failure: failure), queue)
        }
        publication.removeTemporaryFiles()
    }

    /// Completes the publication of a worker that was lost, or of this worker's earlier process.
    private func complete(_ task: PublishingTask, _ queue: WorkerQueue) throws(FleetError) {
        let publication = Publication(
            task.run, of: fleet, destination: task.request.destination?.path ?? "",
            replaces: task.request.ifExists == .replace)
        switch publication.adopt(from: task.firstRun) {
        case .adopted: try place(publication, task.run, task.outcome, queue)
        case .missing where publication.destinationInode == task.inode: try end(task.run, task.outcome, queue)
        case .missing:
            options.log("the file of task \(task.run.task.rawValue) was lost, so the task is downloaded again")
            try queue.putBack(task.run)
        case .unavailable(let failure):
            // A second download could give the file its name twice. The next renewal tries again.
            options.log("the publication of task \(task.run.task.rawValue) waits: \(failure.message)")
        }
    }

    private func end(_ run: TaskRun, _ outcome: Outcome, _ queue: WorkerQueue) throws(FleetError) {
        if try !queue.end(run, outcome) { options.log("the end of run \(run.text) has no effect: the run is old") }
        running[run] = nil
    }
}
