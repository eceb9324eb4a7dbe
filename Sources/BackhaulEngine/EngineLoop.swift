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
        runtime, base.sessions, tasks.scheduler, base.transfers, conditionParts, tasks.deadlines,
        activityNeeds: { [unowned self] in hosts.activities.needs })
    private(set) lazy var startParts: StartParts = makeStartParts()
    private(set) lazy var hosts = HostParts(runtime, services, lifecycle, base, clients, conditions)
    private(set) lazy var housekeeping = HousekeepingParts(
        runtime, services, lifecycle, base, clients, conditionParts.monitor, hosts)
    private(set) lazy var receiver = CommandReceiver(self)

    var loop: Loop { runtime.loop }

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.services = services
        runtime = LoopRuntime(loop, services)
        lifecycle = EngineLifecycle(startedMilliseconds: runtime.clocks.wallMilliseconds, ended: ended)
        base = try BaseParts(runtime, services)
        clients = ClientParts(runtime, base)
        runtime.apply = { [unowned self] in apply($0) }
    }

    // MARK: Parts

    private func makeTaskParts() -> TaskParts {
        let reachability = ReachabilityController(
            runtime, log: services.options.log,
            hasTasks: { [unowned self] lane in
                base.transfers.isRunning(in: lane) || tasks.scheduler.hasReadyTask(in: lane)
            })
        let scheduler = TaskScheduler(runtime, base.credentials, reachability)
        return TaskParts(
            reachability: reachability, scheduler: scheduler,
            deadlines: DeadlineController(runtime, base.sessions, scheduler, base.calendar),
            endings: EndingWriter(
                runtime, clients.events,
                runningTasks: { [unowned self] in lifecycle.isEnding ? 0 : base.transfers.count }))
    }

    private func makeConditionParts() -> ConditionParts {
        let (sessions, scheduler) = (base.sessions, tasks.scheduler)
        let monitor = ConditionsMonitor(runtime, makeSource: { [unowned self] in makeConditionsSource($0) })
        let budgets = BudgetAccounting(
            runtime, sessions, scheduler, monitor,
            hasTasksWithinBudgets: { [unowned self] in conditions.holds.hasTasksWithinBudgets })
        return ConditionParts(
            monitor: monitor, budgets: budgets, admission: BudgetAdmission(runtime, sessions, budgets),
            timeZone: TimeZoneMonitor(runtime))
    }

    /// The source of conditions: the system, or the source of a test.
    private func makeConditionsSource(_ changed: @escaping () -> Void) -> any ConditionsSource {
        if let make = services.options.makeConditionsSource {
            return make { [mailbox = services.mailbox] in
                mailbox.post { engine in engine.conditionParts.monitor.sourceChanged() }
            }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }

    private func makeStartParts() -> StartParts {
        StartParts(
            loader: TaskLoader(
                runtime, tasks.scheduler, base.transfers, base.calendar, base.credentials, tasks.reachability,
                conditionParts.admission, conditions),
            services: TransferServices(
                runtime: runtime, disk: services.disk, directory: services.directory, transport: base.transport,
                traffic: Traffic(rates: base.rates, budgets: conditionParts.budgets), flushTimer: FlushTimer(runtime),
                credentials: base.credentials, endings: tasks.endings))
    }

    // MARK: Life

    func begin() {
        // The housekeeping parts are made before the socket, so that they notice when the store is moved while the
        // engine starts.
        _ = housekeeping
        loop.onClockStep { [runtime] in runtime.run { [.clockWasSet] } }
        do throws(Failure) {
            try receiver.listen()
        } catch {
            return fail(error)
        }
        let clock = runtime.clocks.reading
        base.calendar.begin(clock)
        runtime.store(
            { (transaction) throws(Failure) in
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
            },
            then: { [unowned self] result in
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
        // names. This needs no slot.
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
        queue(base.transfers.engineStops() + [.drainingBegan])
    }

    func finishDrainingIfDone() {
        guard lifecycle.isDraining, base.transfers.areAllFinishing else { return }
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
