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
    let clients = ClientRegistry()
    let sessions = SessionTable()
    let transfers = TransferSupervisor()
    private(set) lazy var scheduler: TaskScheduler = TaskScheduler(
        runtime, credentials, reachability,
        lanesInUse: { [unowned self] in
            holds.lanesInUse.union(probes.lanesInUse).union(transfers.all.map(\.attempt.task.lane))
        })
    var ready: [TaskID: StoredTask] { scheduler.ready }
    var lanes: [LaneID: Lane] { scheduler.lanes }
    let credentials: CredentialController
    private(set) lazy var reachability: ReachabilityController = ReachabilityController(
        runtime, journal, log: services.options.log,
        hasTasks: { [unowned self] lane in transfers.isRunning(in: lane) || scheduler.hasReadyTask(in: lane) })
    let journal: WaitJournal
    private(set) lazy var monitor: ConditionsMonitor = ConditionsMonitor(
        runtime, makeSource: { [unowned self] in makeConditionsSource($0) })
    private(set) lazy var budgets: BudgetAccounting = BudgetAccounting(
        runtime, sessions, scheduler, monitor,
        hasTasksWithinBudgets: { [unowned self] in holds.hasTasksWithinBudgets })
    private(set) lazy var admission: BudgetAdmission = BudgetAdmission(
        runtime, sessions, scheduler, budgets, journal)
    private(set) lazy var uplink: UplinkMonitor = UplinkMonitor(
        runtime, scheduler, transfers, waitingLanes: { [unowned self] in holds.waitingLanes })
    private(set) lazy var holds: HoldController = HoldController(
        runtime, sessions, scheduler, monitor, budgets, uplink, journal)
    private(set) lazy var throughput: ThroughputController = ThroughputController(
        runtime, sessions, scheduler, holds, transfers)
    private(set) lazy var probes: ProbeController = ProbeController(
        runtime, scheduler, calendar, holds, throughput, uplink, transfers,
        hasRoom: { [unowned self] in transfers.room > 0 })
    private(set) lazy var deadlines: DeadlineController = DeadlineController(runtime, sessions, scheduler, calendar)
    private(set) lazy var conditions: ConditionsController = ConditionsController(
        runtime, transfers, conditionParts, deadlines, TimeZoneMonitor(runtime),
        activityNeeds: { [unowned self] in activities.needs })
    private var conditionParts: ConditionParts {
        ConditionParts(
            monitor: monitor, budgets: budgets, admission: admission, uplink: uplink, holds: holds,
            throughput: throughput, probes: probes)
    }
    private(set) lazy var loader: TaskLoader = TaskLoader(
        runtime, scheduler, transfers, calendar, credentials, reachability, conditionParts,
        note: { [unowned self] in conditions.note($0) })
    private(set) lazy var sleep: SleepController = SleepController(
        runtime, monitor, isSaved: { [unowned self] in transfers.all.allSatisfy { $0.attempt.departure != .held } })
    private(set) lazy var transferContext: TransferContext = TransferContext(
        runtime, services, transport, transfers, scheduler, calendar, credentials, reachability, uplink, budgets,
        rates, cookies, files,
        TransferContext.Hooks(
            apply: { [unowned self] in apply($0) }, end: { [endings] in endings.write($0) },
            finished: { [unowned self] in finished($0) }, isLeaving: { [unowned self] in isLeaving }))
    var directoryAliases = DirectoryAliases()
    let cookies: CookieController
    let calendar: CalendarWatch
    let runtime: LoopRuntime
    private(set) lazy var leftovers = LeftoverSweeper(
        runtime, services.disk, path: { [files] in files.path(of: $0) },
        isInUse: { [transfers] in transfers[$0.task]?.attempt.task.part == $0.part })
    private(set) lazy var idle = IdleWatch(
        runtime, lingerMilliseconds: services.options.lingerMilliseconds, facts: { [unowned self] in leaveFacts() })
    private var storeWatch: StoreWatch?
    var server: SocketServer?
    private let ended: @Sendable (EngineEnd) -> Void
    private var hasEnded = false
    let files: StoreFiles
    let requestBodies: RequestBodyKeeper
    private(set) var failure: Failure?
    var hasFailed: Bool { failure != nil }
    private(set) var isLeaving = false
    var whenLeft: (() -> Void)?
    var ticker: LoopTimer?
    var tickerRuns = false
    let storeRetries: StoreRetries
    let claims: SessionClaims
    private let startedMilliseconds = Clock.wallMilliseconds
    private(set) lazy var launches: LaunchController = LaunchController(
        runtime, clients, ProgramStarter(runtime, services))
    let endings: EndingWriter
    let events: EventPublisher
    private(set) lazy var progress = ProgressPublisher(runtime, clients, self)
    private(set) lazy var activities: ActivityController = ActivityController(
        runtime, calendar, log: services.options.log,
        holds: { [unowned self] constraints, session in
            let (holds, effects) = conditions.holds(for: constraints, of: session)
            apply(effects)
            return holds
        },
        isEnding: { [unowned self] in hasFailed || isLeaving })
    let rates: RateLimiter

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.loop = loop
        self.services = services
        self.ended = ended
        files = try StoreFiles(services.directory)
        transport = try Transport(loop: loop)
        runtime = LoopRuntime(loop, services)
        cookies = CookieController(runtime)
        calendar = CalendarWatch(runtime)
        credentials = CredentialController(runtime, sessions, calendar)
        journal = WaitJournal(runtime)
        requestBodies = RequestBodyKeeper(runtime, services)
        claims = SessionClaims(runtime, clients)
        events = EventPublisher(runtime, clients)
        endings = EndingWriter(runtime, events)
        storeRetries = StoreRetries(runtime)
        rates = RateLimiter(runtime)
        runtime.apply = { [unowned self] in apply($0) }
    }

    // MARK: Life

    func begin() {
        ticker = loop.timer { [unowned self] in tick() }
        storeWatch = StoreWatch(runtime, services)
        loop.whenClockJumps { [unowned self] in apply(conditions.clockWasSet()) }
        do {
            server = try SocketServer(directory: services.directory, loop: loop, core: self)
        } catch {
            fail(error)
            return
        }
        let clock = CalendarWatch.readClock()
        calendar.begin(clock)
        store({ (transaction) throws(Failure) in
            try transaction.adopt(clock)
            try transaction.releaseDeadConsumers()
            _ = try transaction.releaseUnconnected()
            try transaction.rescheduleParked(bootMilliseconds: clock.boot, now: clock.wall)
            return Opening(
                tag: try transaction.storeTag(), hasClients: try !transaction.clients().isEmpty,
                sessions: try transaction.activeSessions(),
                lanes: try transaction.lanesWithWaitingTasks(), sealed: try transaction.tasksWithIntent(),
                challenges: try transaction.openChallenges(), kept: try transaction.keptAnswers(),
                nextDue: try transaction.nextDue(),
                latestStart: try transaction.nextLatestStart(), waits: try transaction.openWaits(),
                launches: try transaction.launches(), limits: try transaction.limits(),
                networks: (try transaction.networks(), try transaction.usage()))
        }, then: { core, result in
            switch result {
            case .success(let opening): core.opened(opening)
            case .failure(let failure): core.fail(failure)
            }
        })
    }

    private struct Opening: Sendable {
        var tag: String
        var hasClients: Bool
        var sessions: [(id: SessionID, application: String, configuration: SessionConfiguration)]
        var lanes: [Lane]
        var sealed: [StoredTask]
        var challenges: [(session: SessionID, challenge: Challenge)]
        var kept: [(session: SessionID, answer: KeptAnswer)]
        var nextDue: Int64?
        var latestStart: Int64?
        var waits: [OpenWait]
        var launches: [StoredLaunch]
        var limits: EngineLimits
        var networks: (said: [NetworkSettings], used: [ByteUsage.Entry])
    }

    private func opened(_ opening: Opening) {
        files.open(tag: opening.tag)
        if opening.hasClients { claims.expectClients() }
        limits(opening.limits)
        budgets.open(opening.networks.said, opening.networks.used)
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        journal.inherit(opening.waits)
        credentials.restore(opening.challenges, opening.kept)
        // Sealed before a crash: they only need their name, and take nobody's turn.
        for task in opening.sealed where transfers[task.id] == nil { run(task, holdsSlot: false) }
        for lane in opening.lanes { scheduler.add(lane, reload: false) }
        scheduler.due(at: opening.nextDue)
        apply(deadlines.latestStart(at: opening.latestStart))
        startReadyTasks()
        leftovers.sweep()
        requestBodies.sweepAtStart()
        launches.restore(opening.launches)
        activities.look()
        idle.mayBeIdle()
        idle.noteWork()
    }

    /// The engine cannot go on. Clients are told; whoever holds it stops it.
    func fail(_ failure: Failure) {
        guard !hasFailed else { return }
        self.failure = failure
        conditions.close()
        for connection in clients.removeAll() { connection.deliver(.goodbye(failure)) }
        // Afterwards: with the server go the sockets.
        server?.close()
        end(.failed(failure))
    }

    /// Asks whoever holds this engine to stop it.
    func end(_ reason: EngineEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        ended(reason)
    }

    /// Lets every download write and sync what it has, then calls `whenLeft`.
    func leaveAll(_ whenLeft: @escaping () -> Void) {
        isLeaving = true
        self.whenLeft = whenLeft
        conditions.close()
        cookies.save()
        apply(budgets.ledger.save())
        for runner in Array(transfers.all) { runner.take(.leave) }
        leaveIfDone()
    }

    func leaveIfDone() {
        guard isLeaving, transfers.all.allSatisfy({ $0.isFinishing }) else { return }
        whenLeft?()
        whenLeft = nil
    }

    func close() {
        server?.close()
        transport.close()
        for connection in clients.removeAll() { connection.deliver(.goodbye(nil)) }
        transfers.removeAll()
        ticker?.stop()
        scheduler.close()
        idle.close()
        storeRetries.close()
        claims.close()
        progress.close()
        journal.close()
        rates.close()
        requestBodies.close()
        activities.close()
        budgets.close()
        cookies.close()
        storeWatch?.close()
        _ = reachability.release()
        conditions.close()
        sleep.close()
        monitor.close()
        launches.close()
        runtime.close()
        services.outbox.close()
    }

    var information: EngineInfo {
        EngineInfo(
            processID: ProcessIdentity.current.processID, version: Versions.current.library,
            isDaemon: services.options.isDaemon, startedMilliseconds: startedMilliseconds,
            connections: UInt32(clamping: clients.all.count { $0.hello != nil }))
    }

    // MARK: The store

    /// Runs `body` in the next transaction and `then` here, once its effect is durable.
    func store<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result,
        then: @escaping @Sendable (EngineCore, Swift.Result<Result, Failure>) -> Void
    ) {
        services.store.perform(body) { [outbox = services.outbox] result in
            outbox.post { core in
                then(core, result)
                // Damage, or a descriptor that is gone: whatever is asked of the store from now on fails the same way.
                if case .failure(let failure) = result, failure.endsStore { core.fail(failure) }
            }
        }
    }
}
