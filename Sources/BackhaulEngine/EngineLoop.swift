internal import BackhaulConditions
internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The engine's state on its loop thread. A *part* is an object with the state of one subject. This class makes the
/// parts, starts and ends them, and applies their effects: the actions that a part demands from another part.
final class EngineLoop {
    let runtime: LoopRuntime
    let services: Services
    let lifecycle: EngineLifecycle
    let base: BaseParts
    let clients: ClientParts
    private(set) lazy var tasks: TaskParts = makeTaskParts()
    private(set) lazy var conditionParts: ConditionParts = makeConditionParts()
    private(set) lazy var conditions: ConditionsController = ConditionsController(
        runtime, base.transfers, conditionParts, tasks.deadlines, TimeZoneMonitor(runtime),
        activityNeeds: { [unowned self] in hosts.activities.needs })
    private(set) lazy var startParts: StartParts = makeStartParts()
    private(set) lazy var hosts: HostParts = makeHostParts()
    private(set) lazy var housekeeping: HousekeepingParts = makeHousekeepingParts()
    private(set) lazy var receiver = CommandReceiver(self)

    var loop: Loop { runtime.loop }

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.services = services
        lifecycle = EngineLifecycle(ended: ended)
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

    private func makeTaskParts() -> TaskParts {
        let reachability = ReachabilityController(
            runtime, base.journal, log: services.options.log,
            hasTasks: { [unowned self] lane in
                base.transfers.isRunning(in: lane) || tasks.scheduler.hasReadyTask(in: lane)
            })
        let scheduler = TaskScheduler(
            runtime, base.credentials, reachability,
            lanesInUse: { [unowned self] in
                conditionParts.holds.lanesInUse.union(conditionParts.probes.lanesInUse).union(base.transfers.lanes)
            })
        return TaskParts(
            reachability: reachability, scheduler: scheduler,
            deadlines: DeadlineController(runtime, base.sessions, scheduler, base.calendar),
            endings: EndingWriter(
                runtime, clients.events,
                runningTasks: { [unowned self] in lifecycle.isEnding ? 0 : base.transfers.all.count }))
    }

    private func makeConditionParts() -> ConditionParts {
        let (sessions, transfers, scheduler) = (base.sessions, base.transfers, tasks.scheduler)
        let monitor = ConditionsMonitor(runtime, makeSource: { [unowned self] in makeConditionsSource($0) })
        let budgets = BudgetAccounting(
            runtime, sessions, scheduler, monitor,
            hasTasksWithinBudgets: { [unowned self] in conditionParts.holds.hasTasksWithinBudgets })
        let uplink = UplinkMonitor(
            runtime, scheduler, transfers, waitingLanes: { [unowned self] in conditionParts.holds.waitingLanes })
        let holds = HoldController(runtime, sessions, scheduler, monitor, budgets, uplink, base.journal)
        let throughput = ThroughputController(runtime, sessions, scheduler, holds, transfers)
        return ConditionParts(
            monitor: monitor, budgets: budgets,
            admission: BudgetAdmission(runtime, sessions, scheduler, budgets, base.journal), uplink: uplink,
            holds: holds, throughput: throughput,
            probes: ProbeController(
                runtime, scheduler, base.calendar, holds, throughput, uplink, transfers,
                hasCapacity: { transfers.availableCapacity > 0 }))
    }

    /// The source of conditions: the system, or the fake conditions of a test.
    private func makeConditionsSource(_ changed: @escaping () -> Void) -> any ConditionsSource {
        if let fake = services.options.fakeConditions {
            return fake.source { [mailbox = services.mailbox] in
                mailbox.post { engine in engine.conditionParts.monitor.sourceChanged() }
            }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }

    private func makeStartParts() -> StartParts {
        let endings = tasks.endings
        return StartParts(
            loader: TaskLoader(
                runtime, tasks.scheduler, base.transfers, base.calendar, base.credentials, tasks.reachability,
                conditionParts,
                conditions),
            context: TransferContext(
                runtime, services, base, tasks, conditionParts,
                TransferContext.Hooks(
                    apply: { [runtime] in runtime.add($0) }, end: { endings.write($0) },
                    expectsFurtherEnds: { endings.expectsFurtherEnds },
                    finished: { [unowned self] in finished($0) }, isDraining: { [lifecycle] in lifecycle.isDraining })))
    }

    private func makeHostParts() -> HostParts {
        HostParts(
            launches: LaunchController(runtime, clients.registry, ProgramStarter(runtime, services)),
            activities: ActivityController(
                runtime, base.calendar, log: services.options.log,
                holds: { [unowned self] constraints, session in
                    let (holds, effects) = conditions.holds(for: constraints, of: session)
                    queue(effects)
                    return holds
                },
                isEnding: { [lifecycle] in lifecycle.isEnding }))
    }

    private func makeHousekeepingParts() -> HousekeepingParts {
        let (files, transfers) = (base.files, base.transfers)
        return HousekeepingParts(
            requestBodies: RequestBodyManager(runtime, services),
            leftovers: LeftoverSweeper(
                runtime,
                LeftoverSweeper.Surroundings(
                    path: { files.path(of: $0) }, isInUse: { transfers[$0.task]?.attempt.task.part == $0.part },
                    remove: { [runtime, disk = services.disk] paths, then in
                        disk.remove(paths, then: runtime.returning(then))
                    },
                    watchMounts: { [runtime] changed in MountWatch(runtime, changed) })),
            idle: IdleMonitor(
                runtime, lingerMilliseconds: services.options.lingerMilliseconds,
                facts: { [unowned self] in exitFacts() }),
            sleep: SleepController(
                runtime, conditionParts.monitor,
                isSaved: { transfers.all.allSatisfy { $0.attempt.stopReason != .held } }),
            storeRetries: StoreRetries(runtime), storeWatch: StoreWatch(runtime, services),
            ticker: runtime.timer { [unowned self] in
                tick()
                return []
            })
    }

    // MARK: Life

    func begin() {
        // The housekeeping parts are made before the socket, so that they notice when the store is moved while the
        // engine starts.
        _ = housekeeping
        loop.onClockStep { [unowned self] in runtime.run { conditions.clockWasSet() } }
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
            _ = try transaction.delays.releaseUnreachable()
            try transaction.challenges.rescheduleParked(bootMilliseconds: clock.boot, now: clock.wall)
            return StoredState(
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

    private struct StoredState: Sendable {
        var tag: String
        var hasClients: Bool
        var sessions: [(id: SessionID, application: String, configuration: SessionConfiguration)]
        var lanes: [Lane]
        var sealed: [StoredTask]
        var challenges: [(session: SessionID, challenge: Challenge)]
        var kept: [(session: SessionID, credential: StoredCredential)]
        var nextDue: Int64?
        var latestStart: Int64?
        var waits: [OpenWait]
        var launches: [StoredLaunch]
        var limits: EngineLimits
        var networks: (configured: [NetworkSettings], recordedUsage: [ByteUsage.Entry])
    }

    private func opened(_ opening: StoredState) {
        base.files.open(tag: opening.tag)
        if opening.hasClients { clients.claims.startReconnectTimer() }
        limits(opening.limits)
        conditionParts.budgets.open(opening.networks.configured, opening.networks.recordedUsage)
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        base.journal.inherit(opening.waits)
        base.credentials.restore(opening.challenges, opening.kept)
        // The files of these tasks were complete when an earlier engine ended. The files only have to get their final
        // names. This needs no slot (the right to run).
        for task in opening.sealed where base.transfers[task.id] == nil { run(task, holdsSlot: false) }
        for lane in opening.lanes { tasks.scheduler.add(lane, reload: false) }
        tasks.scheduler.due(at: opening.nextDue)
        queue(tasks.deadlines.latestStart(at: opening.latestStart))
        startReadyTasks()
        housekeeping.leftovers.sweep()
        housekeeping.requestBodies.sweepAtStart()
        hosts.launches.restore(opening.launches)
        hosts.activities.check()
        housekeeping.idle.mayBeIdle()
        housekeeping.idle.noteWork()
    }

    /// Stops the work of an engine that cannot continue: informs the clients, and calls the owner, which stops the
    /// engine.
    func fail(_ failure: Failure) {
        guard lifecycle.fail(failure) else { return }
        conditions.close()
        for connection in clients.registry.removeAll() { connection.deliver(.goodbye(failure)) }
        // The receiver is closed after the goodbyes, because the receiver closes the sockets.
        receiver.close()
        lifecycle.end(.failed(failure))
    }

    /// Stops all running tasks. Calls `whenDrained` when each of these tasks has synced its bytes, or has all bytes and
    /// is being finished.
    func drainAll(_ whenDrained: @escaping () -> Void) {
        lifecycle.beginDraining(whenDrained)
        conditions.close()
        base.cookies.save()
        queue(conditionParts.budgets.ledger.save())
        for runner in Array(base.transfers.all) { runner.take(.stop) }
        tasks.endings.flush()
        finishDrainingIfDone()
    }

    func finishDrainingIfDone() {
        guard lifecycle.isDraining, base.transfers.all.allSatisfy({ $0.isFinishing }) else { return }
        lifecycle.drained()
    }

    func close() {
        receiver.close()
        base.transport.close()
        for connection in clients.registry.removeAll() { connection.deliver(.goodbye(nil)) }
        base.transfers.removeAll()
        closeParts()
        runtime.close()
        services.mailbox.close()
    }

    private func closeParts() {
        tasks.scheduler.close()
        _ = tasks.reachability.release()
        conditions.close()
        conditionParts.budgets.close()
        conditionParts.monitor.close()
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
            isDaemon: services.options.isDaemon, startedMilliseconds: lifecycle.startedMilliseconds,
            connections: UInt32(clamping: clients.registry.all.count { $0.hello != nil }))
    }
}
