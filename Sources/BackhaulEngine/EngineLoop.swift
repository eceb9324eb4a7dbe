internal import BackhaulConditions
internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The engine's state on its loop thread. It makes the parts, starts and ends them, and applies their effects.
final class EngineLoop {
    let runtime: LoopRuntime
    let services: Services
    let life: EngineLife
    let base: BaseParts
    let clients: ClientParts
    private(set) lazy var tasks: TaskParts = makeTasks()
    private(set) lazy var holding: ConditionParts = makeHolding()
    private(set) lazy var conditions: ConditionsController = ConditionsController(
        runtime, base.transfers, holding, tasks.deadlines, TimeZoneMonitor(runtime),
        activityNeeds: { [unowned self] in hosts.activities.needs })
    private(set) lazy var starting: StartParts = makeStarting()
    private(set) lazy var hosts: HostParts = makeHosts()
    private(set) lazy var housekeeping: HousekeepingParts = makeHousekeeping()
    private(set) lazy var receiver = CommandReceiver(self)

    var loop: Loop { runtime.loop }

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.services = services
        life = EngineLife(ended: ended)
        runtime = LoopRuntime(loop, services)
        let (sessions, calendar) = (SessionTable(), CalendarWatch(runtime))
        base = BaseParts(
            transport: try Transport(loop: loop), sessions: sessions, calendar: calendar, journal: WaitJournal(runtime),
            files: try StoreFiles(services.directory), transfers: TransferSupervisor(),
            credentials: CredentialController(runtime, sessions, calendar), cookies: CookieController(runtime),
            rates: RateLimiter(runtime))
        let registry = ClientRegistry()
        clients = ClientParts(
            registry: registry, claims: SessionClaims(runtime, registry), events: EventPublisher(runtime, registry),
            progress: ProgressPublisher(runtime, registry, base.transfers))
        runtime.apply = { [unowned self] in apply($0) }
    }

    // MARK: Parts

    private func makeTasks() -> TaskParts {
        let reachability = ReachabilityController(
            runtime, base.journal, log: services.options.log,
            hasTasks: { [unowned self] lane in
                base.transfers.isRunning(in: lane) || tasks.scheduler.hasReadyTask(in: lane)
            })
        let scheduler = TaskScheduler(
            runtime, base.credentials, reachability,
            lanesInUse: { [unowned self] in
                holding.holds.lanesInUse.union(holding.probes.lanesInUse).union(base.transfers.lanes)
            })
        return TaskParts(
            reachability: reachability, scheduler: scheduler,
            deadlines: DeadlineController(runtime, base.sessions, scheduler, base.calendar),
            endings: EndingWriter(runtime, clients.events))
    }

    private func makeHolding() -> ConditionParts {
        let (sessions, transfers, scheduler) = (base.sessions, base.transfers, tasks.scheduler)
        let monitor = ConditionsMonitor(runtime, makeSource: { [unowned self] in makeConditionsSource($0) })
        let budgets = BudgetAccounting(
            runtime, sessions, scheduler, monitor,
            hasTasksWithinBudgets: { [unowned self] in holding.holds.hasTasksWithinBudgets })
        let uplink = UplinkMonitor(
            runtime, scheduler, transfers, waitingLanes: { [unowned self] in holding.holds.waitingLanes })
        let holds = HoldController(runtime, sessions, scheduler, monitor, budgets, uplink, base.journal)
        let throughput = ThroughputController(runtime, sessions, scheduler, holds, transfers)
        return ConditionParts(
            monitor: monitor, budgets: budgets,
            admission: BudgetAdmission(runtime, sessions, scheduler, budgets, base.journal), uplink: uplink,
            holds: holds, throughput: throughput,
            probes: ProbeController(
                runtime, scheduler, base.calendar, holds, throughput, uplink, transfers,
                hasRoom: { transfers.room > 0 }))
    }

    /// The source of conditions: the system, or the fake conditions of a test.
    private func makeConditionsSource(_ changed: @escaping () -> Void) -> any ConditionsSource {
        if let told = services.options.toldConditions {
            return told.source { [outbox = services.outbox] in
                outbox.post { engine in engine.holding.monitor.sourceChanged() }
            }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }

    private func makeStarting() -> StartParts {
        let endings = tasks.endings
        return StartParts(
            loader: TaskLoader(
                runtime, tasks.scheduler, base.transfers, base.calendar, base.credentials, tasks.reachability, holding,
                conditions),
            context: TransferContext(
                runtime, services, base, tasks, holding,
                TransferContext.Hooks(
                    apply: { [unowned self] in apply($0) }, end: { endings.write($0) },
                    finished: { [unowned self] in finished($0) }, isLeaving: { [life] in life.isLeaving })))
    }

    private func makeHosts() -> HostParts {
        HostParts(
            launches: LaunchController(runtime, clients.registry, ProgramStarter(runtime, services)),
            activities: ActivityController(
                runtime, base.calendar, log: services.options.log,
                holds: { [unowned self] constraints, session in
                    let (holds, effects) = conditions.holds(for: constraints, of: session)
                    apply(effects)
                    return holds
                },
                isEnding: { [life] in life.isEnding }))
    }

    private func makeHousekeeping() -> HousekeepingParts {
        let (files, transfers) = (base.files, base.transfers)
        return HousekeepingParts(
            requestBodies: RequestBodyKeeper(runtime, services),
            leftovers: LeftoverSweeper(
                runtime, services.disk, path: { files.path(of: $0) },
                isInUse: { transfers[$0.task]?.attempt.task.part == $0.part }),
            idle: IdleWatch(
                runtime, lingerMilliseconds: services.options.lingerMilliseconds,
                facts: { [unowned self] in leaveFacts() }),
            sleep: SleepController(
                runtime, holding.monitor,
                isSaved: { transfers.all.allSatisfy { $0.attempt.departure != .held } }),
            storeRetries: StoreRetries(runtime), storeWatch: StoreWatch(runtime, services),
            ticker: runtime.timer { [unowned self] in
                tick()
                return []
            })
    }

    // MARK: Life

    func begin() {
        // Made before the socket, so that a move of the store while the engine starts is noticed.
        _ = housekeeping
        loop.whenClockJumps { [unowned self] in apply(conditions.clockWasSet()) }
        do throws(Failure) {
            try receiver.listen()
        } catch {
            return fail(error)
        }
        let clock = CalendarWatch.readClock()
        base.calendar.begin(clock)
        runtime.store({ (transaction) throws(Failure) in
            try transaction.delays.adopt(clock)
            try transaction.clients.releaseDead()
            _ = try transaction.delays.releaseUnconnected()
            try transaction.challenges.rescheduleParked(bootMilliseconds: clock.boot, now: clock.wall)
            return Opening(
                tag: try transaction.leftovers.storeTag(), hasClients: try !transaction.clients.all().isEmpty,
                sessions: try transaction.sessions.active(),
                lanes: try transaction.lanes.ready(), sealed: try transaction.tasks.withIntent(),
                challenges: try transaction.challenges.all(), kept: try transaction.credentials.kept(),
                nextDue: try transaction.delays.nextDue(),
                latestStart: try transaction.starts.nextLatestStart(), waits: try transaction.waits.open(),
                launches: try transaction.launches.all(), limits: try transaction.settings.limits(),
                networks: (try transaction.settings.networks(), try transaction.settings.usage()))
        }, then: { [unowned self] result in
            switch result {
            case .success(let opening): opened(opening)
            case .failure(let failure): fail(failure)
            }
            return []
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
        base.files.open(tag: opening.tag)
        if opening.hasClients { clients.claims.expectClients() }
        limits(opening.limits)
        holding.budgets.open(opening.networks.said, opening.networks.used)
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        base.journal.inherit(opening.waits)
        base.credentials.restore(opening.challenges, opening.kept)
        // Their files were complete before a crash and only have to be placed, for which no slot is needed.
        for task in opening.sealed where base.transfers[task.id] == nil { run(task, holdsSlot: false) }
        for lane in opening.lanes { tasks.scheduler.add(lane, reload: false) }
        tasks.scheduler.due(at: opening.nextDue)
        apply(tasks.deadlines.latestStart(at: opening.latestStart))
        startReadyTasks()
        housekeeping.leftovers.sweep()
        housekeeping.requestBodies.sweepAtStart()
        hosts.launches.restore(opening.launches)
        hosts.activities.look()
        housekeeping.idle.mayBeIdle()
        housekeeping.idle.noteWork()
    }

    /// The engine cannot continue. Informs its clients, and calls its owner, which stops it.
    func fail(_ failure: Failure) {
        guard life.fail(failure) else { return }
        conditions.close()
        for connection in clients.registry.removeAll() { connection.deliver(.goodbye(failure)) }
        // After the goodbyes, because it closes the sockets.
        receiver.close()
        life.end(.failed(failure))
    }

    /// Stops all running tasks. Calls `whenLeft` when they have written and synced their bytes.
    func leaveAll(_ whenLeft: @escaping () -> Void) {
        life.leave(whenLeft)
        conditions.close()
        base.cookies.save()
        apply(holding.budgets.ledger.save())
        for runner in Array(base.transfers.all) { runner.take(.leave) }
        leaveIfDone()
    }

    func leaveIfDone() {
        guard life.isLeaving, base.transfers.all.allSatisfy({ $0.isFinishing }) else { return }
        life.left()
    }

    func close() {
        receiver.close()
        base.transport.close()
        for connection in clients.registry.removeAll() { connection.deliver(.goodbye(nil)) }
        base.transfers.removeAll()
        closeParts()
        runtime.close()
        services.outbox.close()
    }

    private func closeParts() {
        tasks.scheduler.close()
        _ = tasks.reachability.release()
        conditions.close()
        holding.budgets.close()
        holding.monitor.close()
        clients.claims.close()
        clients.progress.close()
        base.journal.close()
        base.rates.close()
        base.cookies.close()
        hosts.activities.close()
        hosts.launches.close()
        housekeeping.close()
    }

    var information: EngineInfo {
        EngineInfo(
            processID: ProcessIdentity.current.processID, version: Versions.current.library,
            isDaemon: services.options.isDaemon, startedMilliseconds: life.startedMilliseconds,
            connections: UInt32(clamping: clients.registry.all.count { $0.hello != nil }))
    }
}
