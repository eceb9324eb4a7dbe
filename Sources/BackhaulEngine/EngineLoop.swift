internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The engine's state on its loop thread. This class makes the parts, starts and ends them, and applies their effects.
final class EngineLoop {
    let runtime: LoopRuntime
    let services: Services
    let lifecycle: EngineLifecycle
    let base: BaseParts
    let clients: ClientParts
    let tasks: TaskParts
    let conditionParts: ConditionParts
    let conditions: ConditionsController
    let startParts: StartParts
    let hosts: HostParts
    let housekeeping: HousekeepingParts
    private(set) lazy var receiver = CommandReceiver(self)

    var loop: Loop { runtime.loop }

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.services = services
        runtime = LoopRuntime(loop, services)
        lifecycle = EngineLifecycle(startedMilliseconds: runtime.clocks.wallMilliseconds, ended: ended)
        base = try BaseParts(runtime, services)
        clients = ClientParts(runtime, base)
        tasks = TaskParts(runtime, services, lifecycle, base, clients)
        conditionParts = ConditionParts(runtime, services, base, tasks.scheduler)
        conditions = ConditionsController(
            runtime, base.sessions, tasks.scheduler, base.transfers, conditionParts, tasks.deadlines)
        startParts = StartParts(runtime, services, base, tasks, conditionParts, conditions)
        hosts = HostParts(runtime, services, lifecycle, base, clients, conditions)
        housekeeping = HousekeepingParts(
            runtime, services, lifecycle, base, clients, conditions, conditionParts.monitor, hosts)
        runtime.apply = { [unowned self] in apply($0) }
        try receiver.listen()
    }

    // MARK: Life

    func begin() {
        loop.onClockStep { [runtime] in runtime.run { [.clockWasSet] } }
        receiver.begin()
        let clock = runtime.clocks.reading
        base.calendar.begin(clock)
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.delays.adopt(clock)
                try transaction.clients.releaseDead()
                try transaction.credentials.clearExpired(now: clock.wall)
                _ = try transaction.delays.releaseUnreachable()
                try transaction.delays.releaseSealed()
                try transaction.challenges.rescheduleParked(bootMilliseconds: clock.boot, now: clock.wall)
                return StoredState(
                    tag: try transaction.meta.storeTag(), hasClaims: try !transaction.clients.withClaims().isEmpty,
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
        var hasClaims: Bool
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
        if opening.hasClaims { clients.claims.startReconnectTimer() }
        limits(opening.limits)
        queue(conditionParts.budgets.open(opening.networks.configured, opening.networks.recordedUsage))
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        base.journal.inherit(opening.waits)
        base.credentials.restore(opening.challenges, opening.kept)
        finish(opening.sealed)
        for lane in opening.lanes { tasks.scheduler.add(lane, reload: false) }
        tasks.scheduler.due(at: opening.nextDue)
        queue(tasks.deadlines.latestStart(at: opening.latestStart))
        startReadyTasks()
        housekeeping.leftovers.sweep()
        housekeeping.abandonedUploads.remove()
        housekeeping.storage.release()
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
        lifecycle.requestStop(.failed(failure))
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
        tasks.origins.close()
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
