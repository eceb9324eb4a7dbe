internal import BackhaulConditions
internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

// The parts of an engine, in groups. Each group uses the groups before it.

/// The parts that most other parts use.
struct BaseParts {
    let transport: Transport
    let sessions: SessionTable
    let calendar: CalendarWatch
    let journal: WaitJournal
    let files: StoreFiles
    let transfers: TransferSupervisor
    let credentials: CredentialController
    let cookies: CookieController
    let rates: RateLimiter
    let counters: EngineCounters

    init(_ runtime: LoopRuntime, _ services: Services) throws(Failure) {
        transport = try Transport(loop: runtime.loop)
        transport.sha256 = ByteDigest.sha256
        sessions = SessionTable()
        calendar = CalendarWatch(runtime)
        journal = WaitJournal(runtime)
        files = try StoreFiles(services.directory)
        transfers = TransferSupervisor()
        credentials = CredentialController(runtime, sessions, calendar)
        cookies = CookieController(runtime)
        rates = RateLimiter(runtime)
        counters = EngineCounters()
    }
}

/// The parts for connections of clients, and for events and progress.
struct ClientParts {
    let registry: ClientRegistry
    let claims: SessionClaims
    let events: EventPublisher
    let progress: ProgressPublisher

    init(_ runtime: LoopRuntime, _ base: BaseParts) {
        registry = ClientRegistry()
        claims = SessionClaims(runtime, registry)
        events = EventPublisher(runtime, registry)
        progress = ProgressPublisher(runtime, registry, base.transfers)
    }

    /// Ends a handle. Returns what it was attached to; nil if this engine does not know the handle.
    func detach(_ handle: HandleID, of connection: ClientConnection) -> ClientConnection.AttachedHandle? {
        guard let attached = connection.detach(handle) else { return nil }
        let address = HandleAddress(connection: connection.id, handle: handle)
        progress.stop(address)
        registry.detached(address, from: attached.session)
        return attached
    }

    /// Ends all handles of a session that was removed.
    func end(_ session: SessionID) {
        for connection in registry.all {
            for handle in connection.end(session) {
                let address = HandleAddress(connection: connection.id, handle: handle)
                progress.stop(address)
                registry.detached(address, from: session)
            }
        }
    }
}

/// The parts for waiting tasks and for ends of tasks.
struct TaskParts {
    let reachability: ReachabilityController
    let origins: OriginController
    let scheduler: TaskScheduler
    let deadlines: DeadlineController
    let endings: EndingWriter
}

extension TaskParts {
    init(
        _ runtime: LoopRuntime, _ services: Services, _ lifecycle: EngineLifecycle, _ base: BaseParts,
        _ clients: ClientParts
    ) {
        let transfers = base.transfers
        reachability = ReachabilityController(runtime, log: services.options.log)
        origins = OriginController(runtime)
        scheduler = TaskScheduler(runtime, base.credentials, reachability)
        deadlines = DeadlineController(runtime, base.sessions, scheduler, base.calendar)
        endings = EndingWriter(
            runtime, clients.events, runningTasks: { lifecycle.isEnding ? 0 : transfers.count })
    }
}

/// The parts with the facts for decisions about holds.
struct ConditionParts {
    let monitor: ConditionsMonitor
    let budgets: BudgetAccounting
    let budgetDelays: BudgetDelays
    let timeZone: TimeZoneMonitor
}

extension ConditionParts {
    init(_ runtime: LoopRuntime, _ services: Services, _ base: BaseParts, _ scheduler: TaskScheduler) {
        monitor = ConditionsMonitor(
            runtime, makeSource: { changed in Self.makeSource(runtime.loop, services, changed) })
        budgets = BudgetAccounting(runtime, base.sessions, scheduler, monitor)
        budgetDelays = BudgetDelays(runtime, base.sessions, budgets)
        timeZone = TimeZoneMonitor(runtime)
    }

    /// The source of conditions: the system, or the source of a test.
    private static func makeSource(
        _ loop: Loop, _ services: Services, _ changed: @escaping () -> Void
    ) -> any ConditionsSource {
        if let make = services.options.makeConditionsSource {
            return make { [mailbox = services.mailbox] in
                mailbox.post { engine in engine.conditionParts.monitor.sourceChanged() }
            }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }
}

/// The parts that load and start tasks.
struct StartParts {
    let loader: TaskLoader
    let services: TransferServices
}

extension StartParts {
    init(
        _ runtime: LoopRuntime, _ services: Services, _ base: BaseParts, _ tasks: TaskParts,
        _ conditionParts: ConditionParts, _ conditions: ConditionsController
    ) {
        loader = TaskLoader(
            runtime, tasks.scheduler, base.transfers, base.calendar, base.credentials, conditionParts.budgetDelays,
            conditions)
        self.services = TransferServices(
            runtime: runtime, disk: services.disk, directory: services.directory, transport: base.transport,
            traffic: Traffic(rates: base.rates, budgets: conditionParts.budgets, counters: base.counters),
            flushTimer: FlushTimer(runtime),
            credentials: base.credentials, origins: tasks.origins, endings: tasks.endings)
    }
}

/// The parts that work while no program is connected.
struct HostParts {
    let launches: LaunchController
    let activities: ActivityController

    init(
        _ runtime: LoopRuntime, _ services: Services, _ lifecycle: EngineLifecycle, _ base: BaseParts,
        _ clients: ClientParts, _ conditions: ConditionsController
    ) {
        launches = LaunchController(runtime, clients.registry, ProgramStarter(runtime, services))
        activities = ActivityController(
            runtime, base.calendar, log: services.options.log,
            holds: { constraints, session in
                let (holds, effects) = conditions.holdsOfActivity(constraints, of: session)
                runtime.add(effects)
                return holds
            },
            isEnding: { lifecycle.isEnding })
    }
}

/// The parts for work other than transfers.
struct HousekeepingParts {
    let requestBodies: RequestBodyManager
    let leftovers: LeftoverSweeper
    let abandonedUploads: AbandonedUploads
    let idle: IdleMonitor
    let sleep: SleepController
    let storeRetryQueue: StoreRetryQueue
    let storeWatch: StoreWatch?
    let storage: StorageWaits
    /// The timer that fires once a second while tasks run.
    let ticker: any RuntimeTimer

    init(
        _ runtime: LoopRuntime, _ services: Services, _ lifecycle: EngineLifecycle, _ base: BaseParts,
        _ clients: ClientParts, _ conditions: ConditionsController, _ monitor: ConditionsMonitor, _ hosts: HostParts
    ) {
        let (files, transfers) = (base.files, base.transfers)
        let bodies = RequestBodyManager(runtime, services)
        let sweeper = LeftoverSweeper(
            runtime,
            LeftoverSweeper.Surroundings(
                isInUse: { transfers.isInUse($0) },
                remove: { file, then in
                    let path = files.path(of: file)
                    services.disk.remove(path: path, on: file.fileSystem, then: runtime.returning(then))
                },
                watchMounts: { changed in MountWatch(runtime, changed) }))
        let uploads = AbandonedUploads(
            runtime,
            AbandonedUploads.Surroundings(
                send: { Self.remove($0, $1, runtime, base, conditions, then: $2) },
                setNeeds: { conditions.removalNeeds = $0 }))
        (requestBodies, leftovers, abandonedUploads) = (bodies, sweeper, uploads)
        idle = IdleMonitor(
            runtime, lingerMilliseconds: services.options.lingerMilliseconds,
            facts: {
                guard !lifecycle.isEnding else { return nil }
                var facts = IdleExitPolicy.Facts()
                facts.connections = clients.registry.connections.count
                facts.runningTasks = transfers.count
                facts.isCleaning = sweeper.isSweeping || bodies.isBusy || uploads.isBusy
                facts.launchesWait = hosts.launches.isBusy || clients.claims.awaitsClients
                return facts
            })
        sleep = SleepController(runtime, monitor, isSaved: { transfers.heldTasksAreSaved })
        storeRetryQueue = StoreRetryQueue(runtime)
        storeWatch = StoreWatch(runtime, services)
        storage = StorageWaits(runtime, services.disk)
        ticker = runtime.timer { [.tick] }
    }

    /// Sends the request that removes what a server has of the upload.
    private static func remove(
        _ upload: AbandonedUpload, _ configuration: SessionConfiguration, _ runtime: LoopRuntime, _ base: BaseParts,
        _ conditions: ConditionsController, then: @escaping (Int32?) -> [EngineEffect]
    ) -> AbandonedUploads.Sending {
        let constraints = EffectiveConstraints(session: configuration.constraints)
        let (holds, effects) = conditions.holdsOfActivity(constraints, of: upload.session)
        runtime.add(effects)
        guard let holds, holds.isEmpty else {
            return .held(by: constraints.neededAtStart(), isRead: holds != nil)
        }
        let cookies = base.cookies.jar(of: upload.session)
        guard
            let request = try? TransferRequest(
                removing: upload, configuration, credentials: base.credentials[upload.session]),
            let removal = try? UploadRemoval(request, runtime, base.transport, cookies: cookies, then: then)
        else { return .failed }
        return .sent(removal)
    }

    func close() {
        abandonedUploads.close()
        requestBodies.close()
        leftovers.close()
        idle.close()
        sleep.close()
        storeRetryQueue.close()
        storeWatch?.close()
        storage.close()
        ticker.stop()
    }
}
