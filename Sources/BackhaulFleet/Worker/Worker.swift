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
        /// Whether the run is cancelled in the local engine, because its host wants this or a suspend.
        var isCancelled = false
    }

    private let options: WorkerOptions
    private let identity: WorkerIdentity
    private let local: LocalEngine
    private var database: DatabaseConnection?
    private var lease: LeaseClock
    /// The reply to the last renewal.
    private var renewal = WorkerQueue.Renewal()
    /// Whether the local transfers are suspended, because the lease may have ended.
    private var isSuspended = true
    private var running: [TaskRun: RunningTask] = [:]
    /// The runs whose ends are decided, and whose files may not have their final names yet. The next renewal completes
    /// them.
    private var publishing: Set<TaskRun> = []
    private var claimPause = ClaimPause()
    /// The most tasks of each origin that ran together since the last renewal. The worker keeps so many permits: if it
    /// gave one back between two tasks, another worker would open a connection, and this one still has an idle one.
    private var mostRunning: [Int64: Int64] = [:]
    /// The origin whose turn was the last one.
    private var lastOrigin: Int64 = 0
    private var waiting = WaitingRuns()
    private var oldTasks = OldTasks()
    /// What the last step failed with. While it stays the same, it is logged once.
    private var lastError: FleetError?

    /// How long a worker that starts waits for its database.
    private static let startMilliseconds: Int64 = 30_000
    /// How long the worker waits for moves of files before it does other work. A rename takes less time.
    private static let moveMilliseconds: Int64 = 50

    /// Connects to the database, and opens the local store. Transfers of an earlier process wait for the lease. Returns
    /// nil if the worker is stopped while it waits for the database.
    public init?(_ options: WorkerOptions, isStopped: () -> Bool) throws(FleetError) {
        self.options = options
        lease = LeaseClock(leaseMilliseconds: options.leaseMilliseconds)
        guard let connection = try Self.connect(options, isStopped: isStopped) else { return nil }
        database = connection
        identity = try WorkerIdentity(directory: options.directory, fleet: try Schema.fleet(connection))
        local = try LocalEngine(store: options.directory + "/store")
        try local.control(.suspend) { _ in true }
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
        while !isStopped(), !(renewal.isDraining && running.isEmpty && local.hasEndedMoves) {
            do throws(FleetError) {
                try step()
                lastError = nil
            } catch {
                if error != lastError { options.log(error.failure.message) }
                lastError = error
                if database?.isLost == true || error.isConnectionEnd { database = nil }
                suspendWithoutLease()
                local.wait(milliseconds: lease.waitMilliseconds(workers: renewal.workers))
            }
        }
        local.waitForMoves()
        local.close()
        if running.isEmpty, let queue = try? queue() { try? queue.unregister() }
    }

    /// Does what is due, and waits for a short time until something happens.
    func step() throws(FleetError) {
        let queue = try queue()
        if lease.isDue(at: Clock.bootMilliseconds) { try renew(queue) }
        do throws(FleetError) {
            try report(local.endedRuns(), queue)
        } catch {
            try? applyControls(queue)
            throw error
        }
        try applyControls(queue)
        if !running.isEmpty { try waiting.update(local.waitingRuns, origin: { running[$0]?.origin }, queue.database) }
        if claimPause.isOver, !renewal.isDraining { try claim(queue) }
        try oldTasks.removeDue(queue, workers: renewal.workers)
        local.wait(milliseconds: lease.waitMilliseconds(workers: renewal.workers))
    }

    private var reserved: ReservedDirectory { ReservedDirectory(path: options.directory) }

    /// The sessions of the fleet that the local store has.
    var localSessions: [SessionID] { local.knownSessions }

    private func queue() throws(FleetError) -> WorkerQueue {
        if let database { return WorkerQueue(database, worker: identity.id) }
        let connection = try Self.connect(options)
        database = connection
        return WorkerQueue(connection, worker: identity.id)
    }

    // MARK: The lease

    private func renew(_ queue: WorkerQueue) throws(FleetError) {
        let sent = Clock.bootMilliseconds
        renewal = try queue.renew(name: options.name, leaseMilliseconds: options.leaseMilliseconds)
        let decided = try queue.ownPublishing()
        publishing = Set(decided.map(\.run))
        let notStarted = try continueOwnTasks(queue)
        lease.renewed(sentAt: sent)
        try complete(decided + queue.takeOver(), queue)
        try queue.releaseExpired()
        mostRunning.merge(runningByOrigin, uniquingKeysWith: max)
        try queue.releasePermits(running: mostRunning)
        mostRunning = runningByOrigin
        try start(notStarted, queue)
        try updateSessions(queue)
    }

    /// Updates the configurations of the local engine's sessions, and removes sessions that the fleet no longer has.
    private func updateSessions(_ queue: WorkerQueue) throws(FleetError) {
        let stored = try queue.configurations(of: local.knownSessions)
        for session in local.knownSessions {
            do throws(FleetError) {
                if let configuration = stored[session] {
                    try configure(session, configuration)
                } else {
                    try local.remove(session)
                }
            } catch where error.failure.status == .invalidArgument {
                // The next task that the worker claims of this session ends with this error.
            }
        }
    }

    /// Compares the local runs with those of the database: other workers may have claimed tasks of this worker, or this
    /// process may have been restarted. Returns the tasks that the local engine does not have.
    private func continueOwnTasks(_ queue: WorkerQueue) throws(FleetError) -> [ClaimedTask] {
        let own = try queue.ownTasks()
        let runs = Set(own.map(\.run))
        // After an error of a start, such as a time-out, the local engine may have started the task nevertheless.
        let isSame = runs == Set(running.keys) && running.values.allSatisfy(\.isStarted)
        if isSame, !claimPause.followsFailure, !isSuspended { return [] }
        running = running.filter { runs.contains($0.key) }
        try local.control(.cancel) { !runs.contains($0) }
        if isSuspended { try local.control(.resume) { runs.contains($0) } }
        isSuspended = false
        let localRuns = try local.runs()
        for task in own where running[task.run]?.isStarted != true {
            let isStarted = localRuns.contains(task.run)
            running[task.run] = RunningTask(origin: task.origin, request: task.request, isStarted: isStarted)
        }
        return own.filter { running[$0.run]?.isStarted != true }
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
        let waitingCount = Int64(running.keys.count { waiting.runs.contains($0) })
        let most = min(LocalEngine.mostTasks + waitingCount, LocalEngine.mostHeldTasks)
        for (origin, isOpen) in origins {
            let room = most - Int64(running.count)
            guard room > 0, lease.mayPublish(at: Clock.bootMilliseconds) else { return }
            lastOrigin = origin
            guard isOpen else { continue }
            let running = running.values.count { $0.origin == origin }
            try start(queue.claim(from: origin, running: Int64(running), room: room), queue)
        }
        if origins.count < WorkerQueue.originBatch { lastOrigin = 0 }
    }

    private func start(_ tasks: [ClaimedTask], _ queue: WorkerQueue) throws(FleetError) {
        guard !tasks.isEmpty else { return }
        for task in tasks { running[task.run] = RunningTask(origin: task.origin, request: task.request) }
        mostRunning.merge(runningByOrigin, uniquingKeysWith: max)
        let stored = try queue.configurations(of: Set(tasks.map(\.session)).sorted())
        for (index, task) in tasks.enumerated() {
            do throws(FleetError) {
                try configure(task.session, stored[task.session] ?? [])
                try FleetError.wrapping(try reserved.check(task.request.destination?.path ?? ""))
                try local.start(task)
                running[task.run]?.isStarted = true
                claimPause.taskStarted()
            } catch where error.failure.status == .invalidArgument {
                try end([RunEnd(task.run, Outcome(state: .failed, failure: error.failure))], queue)
            } catch {
                // This machine lacks something, such as space on its disk. Another worker may run the tasks.
                claimPause.startFailed(leaseMilliseconds: options.leaseMilliseconds)
                for task in tasks[index...] {
                    running[task.run] = nil
                    try queue.putBack(task.run)
                }
                throw error
            }
        }
    }

    /// Gives the local engine the session.
    private func configure(_ session: SessionID, _ stored: [UInt8]) throws(FleetError) {
        guard !local.hasSession(session, stored) else { return }
        guard let configuration = try? Wire.decodeConfiguration(stored) else {
            throw FleetError(.invalidArgument, "the configuration of the task's session cannot be read")
        }
        try FleetConfiguration.check(configuration)
        try local.configure(session, configuration, stored: stored)
    }

    /// Cancels the running tasks that hosts have cancelled or suspended. Their ends then come from the local engine.
    private func applyControls(_ queue: WorkerQueue) throws(FleetError) {
        guard !running.isEmpty else { return }
        let wanted = Set(try queue.wantedControls()).filter { running[$0]?.isStarted == true }
        guard wanted.contains(where: { running[$0]?.isCancelled == false }) else { return }
        try local.control(.cancel) { wanted.contains($0) }
        for run in wanted { running[run]?.isCancelled = true }
    }

    // MARK: Ends

    /// A run with a complete temporary file.
    private struct ReadyRun {
        var publication: Publication
        var decided: DecidedEnd
        var run: TaskRun { decided.end.run }
    }

    private func report(_ ended: [LocalEngine.EndedRun], _ queue: WorkerQueue) throws(FleetError) {
        var (ends, ready, ending): ([RunEnd], [ReadyRun], [Publication]) = ([], [], [])
        var reported: [LocalEngine.EndedRun] = []
        var shortage: FleetError?
        let deadline = Deadline.after(milliseconds: Self.moveMilliseconds)
        for one in ended where !publishing.contains(one.run) {
            let publication = Publication(
                one.run, of: identity.fleet, destination: one.destination,
                replaces: running[one.run]?.request.ifExists == .replace, reserved: reserved)
            switch (running[one.run], one.outcome.state) {
            case (nil, _):
                guard !local.isMoving(one.run) else { continue }
                publication.removeTemporaryFile()
            case (_, .cancelled):
                // The task is then cancelled, suspended or queued, as its host wants it now.
                publication.removeEarlierTemporaryFiles()
                try queue.putBack(one.run)
                running[one.run] = nil
            case (_, .succeeded):
                do throws(FleetError) {
                    guard try local.claim(one, to: publication.temporaryPath, until: deadline) else { continue }
                    if let run = prepared(one, publication) { ready.append(run) }
                } catch where error.failure.isOfWorker {
                    // The next report tries again.
                    shortage = error
                    continue
                } catch {
                    ends.append(RunEnd(one.run, Outcome(state: .failed, failure: error.failure)))
                    ending.append(publication)
                }
            default:
                ends.append(RunEnd(one.run, one.outcome))
                ending.append(publication)
            }
            reported.append(one)
        }
        let placed = try publish(ready, queue)
        try end(ends + placed.map(\.decided.end), of: ending + placed.map(\.publication), queue)
        try local.forget(reported)
        if let shortage { throw shortage }
    }

    /// The run, whose file has its temporary name. Returns nil if the file has its final name already.
    private func prepared(_ ended: LocalEngine.EndedRun, _ publication: Publication) -> ReadyRun? {
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
            guard let end = place(run.decided.end, run.publication.place) else { continue }
            run.decided.end = end
            placed.append(run)
        }
        return placed
    }

    /// Gives a file whose run has decided its end the final name. Returns the end that is to be reported; nil if this
    /// worker must not report it now.
    private func place(_ decided: RunEnd, _ attempt: () -> Publication.Placement) -> RunEnd? {
        let placement = lease.mayPublish(at: Clock.bootMilliseconds) ? attempt() : .gone
        switch placement {
        case .placed: return decided
        case .failed(let failure): return RunEnd(decided.run, Outcome(state: .failed, failure: failure))
        case .unavailable(let failure):
            logWait(decided.run, failure)
            fallthrough
        case .gone:
            // After the next renewal, this worker completes the publication, if no other worker has done so.
            running[decided.run] = nil
            publishing.insert(decided.run)
            return nil
        }
    }

    private func logWait(_ run: TaskRun, _ failure: Failure) {
        options.log("the publication of task \(run.task.rawValue) waits: \(failure.message)")
    }

    /// Completes the publications of workers that were lost, or of this worker's earlier process.
    private func complete(_ tasks: [PublishingTask], _ queue: WorkerQueue) throws(FleetError) {
        var ends: [RunEnd] = []
        var placed: [Publication] = []
        for task in tasks {
            let publication = Publication(
                task.run, of: identity.fleet, destination: task.request.destination?.path ?? "",
                replaces: task.request.ifExists == .replace, reserved: reserved)
            let decided = RunEnd(task.run, task.outcome)
            var end: RunEnd?
            switch publication.adopt(from: task.firstRun) {
            case .adopted: end = place(decided, publication.place)
            case .missing where publication.destinationInode == task.inode:
                // The worker that has given the file its name may have been killed before it has synced the name.
                end = place(decided, publication.confirm)
            case .missing:
                options.log("the file of task \(task.run.task.rawValue) was lost, so the task is downloaded again")
                try queue.putBack(task.run)
            case .unavailable(let failure):
                // A second download could give the file its name twice. The next renewal tries again.
                logWait(task.run, failure)
            }
            guard let end else { continue }
            ends.append(end)
            placed.append(publication)
        }
        try end(ends, of: placed, queue)
    }

    /// Stores the ends of these publications, and removes the temporary files of their runs.
    private func end(_ ends: [RunEnd], of publications: [Publication], _ queue: WorkerQueue) throws(FleetError) {
        for publication in publications { publication.removeEarlierTemporaryFiles() }
        try end(ends, queue)
        // Such a file has not got its final name. Until its end is stored, the run can be completed again.
        for publication in publications where publication.temporaryInode != nil { publication.removeTemporaryFile() }
    }

    private func end(_ ends: [RunEnd], _ queue: WorkerQueue) throws(FleetError) {
        guard !ends.isEmpty else { return }
        let ended = try queue.end(ends)
        for end in ends {
            if !ended.contains(end.run) { options.log("the end of run \(end.run.text) has no effect: the run is old") }
            running[end.run] = nil
            publishing.remove(end.run)
        }
    }
}

extension Failure {
    /// Whether this machine lacks something, such as space for the local store. The same work may succeed later.
    fileprivate var isOfWorker: Bool {
        [.timeout, .storeFull, .storeReadOnly, .storeUnavailable].contains(status) || isTemporaryShortage
    }
}
