internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Everything that lives on the engine's loop thread and never leaves it.
final class EngineCore {
    let loop: Loop
    let services: Services
    let transport: Transport
    var connections: [ConnectionID: ClientConnection] = [:]
    var sessions: [SessionID: SessionConfiguration] = [:]
    var schedule = Schedule<LaneID, SessionID, TaskID>()
    /// Loaded from the store ahead of their turn.
    var ready: [TaskID: StoredTask] = [:]
    var lanes: [LaneID: Lane] = [:]
    var runners: [TaskID: DownloadRunner] = [:]
    var server: SocketServer?
    private let ended: @Sendable (Failure) -> Void
    /// Tells this store's part files from those of others.
    private(set) var tag = ""
    private static let bytesToWriteLimit = 64 << 20
    /// Running and finishing downloads together.
    private static let runnerLimit = 1_024
    /// Handed to the disk threads and not yet written.
    var bytesToWrite = 0 {
        didSet { if oldValue > Self.bytesToWriteLimit, !diskIsBehind { planPump() } }
    }
    private(set) var kept: Destination
    var isSweeping = false
    private(set) var failure: Failure?
    var hasFailed: Bool { failure != nil }
    private(set) var isLeaving = false
    private var whenLeft: (() -> Void)?
    private var ticker: LoopTimer?
    private var tickerRuns = false
    private var dueTimer: LoopTimer?
    private var nextDue: Int64?
    private var pumpIsPlanned = false
    private var lastAttempt: UInt64 = 0

    init(loop: Loop, services: Services, ended: @escaping @Sendable (Failure) -> Void) throws(Failure) {
        self.loop = loop
        self.services = services
        self.ended = ended
        try services.directory.makeKeptFolder()
        kept = try DestinationCheck.check(path: services.directory.keptPath + "/0", ifExists: .replace)
        transport = try Transport(loop: loop)
    }

    // MARK: Life

    func begin() {
        ticker = loop.timer { [unowned self] in tick() }
        dueTimer = loop.timer { [unowned self] in releaseDue() }
        do {
            server = try SocketServer(directory: services.directory, loop: loop, core: self)
        } catch {
            fail(error)
            return
        }
        store({ (transaction) throws(Failure) in
            try transaction.releaseDeadConsumers()
            return Opening(
                tag: try transaction.storeTag(), sessions: try transaction.activeSessions(),
                lanes: try transaction.lanesWithWaitingTasks(), sealed: try transaction.tasksWithIntent(), nextDue: try transaction.nextDue())
        }, then: { core, result in
            switch result {
            case .success(let opening): core.opened(opening)
            case .failure(let failure): core.fail(failure)
            }
        })
    }

    private struct Opening: Sendable {
        var tag: String
        var sessions: [(id: SessionID, application: String, configuration: SessionConfiguration)]
        var lanes: [Lane]
        var sealed: [StoredTask]
        var nextDue: Int64?
    }

    private func opened(_ opening: Opening) {
        tag = opening.tag
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        // Sealed before a crash: they only need their name, and take nobody's turn.
        for task in opening.sealed where runners[task.id] == nil { run(task, holdsTurn: false) }
        for lane in opening.lanes { add(lane, reload: false) }
        due(at: opening.nextDue)
        pump()
        sweepLeftovers()
    }

    func remember(_ configuration: SessionConfiguration, of session: SessionID) {
        sessions[session] = configuration
        schedule.setLimits(
            .init(
                perLane: Int(configuration.connectionsPerOrigin), perSession: Int(configuration.maximumRunningTasks)),
            of: session)
    }

    func forget(_ session: SessionID) {
        sessions[session] = nil
        schedule.forget(session: session)
    }

    /// The engine cannot go on. Clients are told; whoever holds it stops it.
    func fail(_ failure: Failure) {
        guard !hasFailed else { return }
        self.failure = failure
        server?.close()
        for connection in connections.values { connection.deliver(.goodbye(failure)) }
        connections = [:]
        ended(failure)
    }

    /// Lets every download write and sync what it has, then calls `whenLeft`.
    func leaveAll(_ whenLeft: @escaping () -> Void) {
        isLeaving = true
        self.whenLeft = whenLeft
        for runner in Array(runners.values) { runner.handle(.leave) }
        leaveIfDone()
    }

    private func leaveIfDone() {
        guard isLeaving, runners.values.allSatisfy(\.isFinishing) else { return }
        whenLeft?()
        whenLeft = nil
    }

    func close() {
        server?.close()
        transport.close()
        for connection in connections.values { connection.deliver(.goodbye(nil)) }
        connections = [:]
        runners = [:]
        ticker?.stop()
        dueTimer?.stop()
        services.outbox.close()
    }

    // MARK: The store

    /// Runs `body` in the next transaction and `then` here, once its effect is durable.
    func store<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result,
        then: @escaping @Sendable (EngineCore, Swift.Result<Result, Failure>) -> Void
    ) {
        services.store.perform(body) { [outbox = services.outbox] result in
            outbox.post { core in then(core, result) }
        }
    }

    // MARK: Whose turn it is

    func add(_ lane: Lane, reload: Bool) {
        lanes[lane.id] = lane
        for task in schedule.add(lane.id, of: lane.session, reload: reload) { ready[task] = nil }
    }

    /// Tasks wait in these lanes now.
    func tasksWait(in ids: Set<LaneID>, reload: Bool) {
        guard !ids.isEmpty else { return }
        var unknown: [LaneID] = []
        for id in ids {
            if let lane = lanes[id] { add(lane, reload: reload) } else { unknown.append(id) }
        }
        if !unknown.isEmpty {
            let wanted = unknown
            store({ (transaction) throws(Failure) in
                var found: [Lane] = []
                for id in wanted { if let lane = try transaction.lane(id) { found.append(lane) } }
                return found
            }, then: { core, result in
                for lane in (try? result.get()) ?? [] { core.add(lane, reload: false) }
                core.planPump()
            })
        }
        planPump()
    }

    /// Once at the end of this turn, however many events ask for it.
    func planPump() {
        guard !pumpIsPlanned else { return }
        pumpIsPlanned = true
        loop.afterThisTurn { [unowned self] in
            pumpIsPlanned = false
            pump()
        }
    }

    private func pump() {
        guard !hasFailed, !isLeaving else { return }
        while !diskIsBehind, let step = schedule.next() {
            switch step {
            case .start(let id, let lane):
                guard let task = ready.removeValue(forKey: id), runners[id] == nil else {
                    schedule.released(lane)
                    continue
                }
                run(task, holdsTurn: true)
            case .load(let lane, let limit): load(lane, limit)
            }
        }
    }

    func nextAttempt() -> UInt64 {
        lastAttempt += 1
        return lastAttempt
    }

    /// A network that is faster than the disk must not fill the memory: nothing more starts until it has caught up.
    private var diskIsBehind: Bool { bytesToWrite > Self.bytesToWriteLimit || runners.count >= Self.runnerLimit }

    private func load(_ lane: LaneID, _ limit: Int) {
        var known = Set(ready.values.filter { $0.lane == lane }.map(\.id))
        for runner in runners.values where runner.task.lane == lane { known.insert(runner.task.id) }
        let passedOver = known
        store({ (transaction) throws(Failure) in
            try transaction.waitingTasks(lane: lane, limit: limit, afterKnown: passedOver)
        }, then: { core, result in
            guard let found = try? result.get() else {
                // The store cannot read for now: it is asked again with the next look at what is due.
                core.schedule.loaded(lane, [], isAll: false)
                core.due(at: Clock.bootMilliseconds + 1_000)
                return
            }
            let tasks = found.filter { core.runners[$0.id] == nil && core.ready[$0.id] == nil }
            for task in tasks { core.ready[task.id] = task }
            core.schedule.loaded(lane, tasks.map(\.id), isAll: found.count < limit)
            core.planPump()
        })
    }

    private func run(_ task: StoredTask, holdsTurn: Bool) {
        guard let configuration = sessions[task.session] else {
            if holdsTurn { schedule.released(task.lane) }
            return
        }
        let runner = DownloadRunner(task: task, configuration: configuration, core: self, holdsTurn: holdsTurn)
        runners[task.id] = runner
        if !tickerRuns {
            tickerRuns = true
            ticker?.start(milliseconds: 1_000)
        }
        runner.start()
    }

    func finished(_ runner: DownloadRunner) {
        guard runners[runner.task.id] === runner else { return }
        runners[runner.task.id] = nil
        if runner.wasCancelled { sweepLeftovers() }
        leaveIfDone()
        planPump()
    }

    private func tick() {
        tickerRuns = !runners.isEmpty && !hasFailed
        guard tickerRuns else { return }
        for runner in Array(runners.values) { runner.tick() }
        ticker?.start(milliseconds: 1_000)
    }

    // MARK: Delays

    /// A delayed task is to be looked at at this time of the boot clock.
    func due(at time: Int64?) {
        guard let time else { return }
        if let nextDue, nextDue <= time { return }
        nextDue = time
        dueTimer?.start(milliseconds: max(0, time - loop.now))
    }

    private func releaseDue() {
        nextDue = nil
        let now = Clock.bootMilliseconds
        store({ (transaction) throws(Failure) in
            (lanes: try transaction.releaseDue(bootMilliseconds: now), next: try transaction.nextDue())
        }, then: { core, result in
            switch result {
            case .success(let (lanes, next)):
                core.tasksWait(in: lanes, reload: false)
                core.planPump()
                core.due(at: next)
            case .failure:
                // The store is full or failing for now: look again.
                core.due(at: now + 1_000)
            }
        })
    }

    // MARK: What changed

    /// Rows changed: running downloads follow, and clients of the application learn of new events.
    func apply(_ change: Change, tasksEndedOrStopped: DownloadMachine.Event? = nil) {
        if let event = tasksEndedOrStopped {
            for id in change.tasks {
                if let runner = runners[id] {
                    runner.handle(event)
                } else if let task = ready.removeValue(forKey: id) {
                    schedule.drop(id, in: task.lane)
                }
            }
        }
        tasksWait(in: change.lanes, reload: false)
        announce(change)
        if change.sessionRemoved { forget(change.session) }
    }

    func announce(_ change: Change) {
        guard change.newestEvent > .zero else { return }
        let notice = Notice.event(identifier: change.identifier, newest: change.newestEvent)
        for connection in connections.values where connection.application == change.application {
            connection.deliver(.notice(notice))
        }
    }
}
