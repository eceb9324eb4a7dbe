internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The lanes whose servers the kernel cannot reach, because it has no route. The tasks of such a lane do not start
/// until the network changes or the next check is due.
///
/// Each engine has one object of this type. While there are such lanes, it listens to changes of routes.
final class ReachabilityController {
    private let runtime: any Runtime
    private let log: @Sendable (LogEntry) -> Void
    private var lanes: Set<LaneID> = []
    private var pacing = ConnectivityCheckBackoff()
    private var watch: (any RuntimeWatch)?
    private var timer: (any RuntimeTimer)?
    /// The lanes with wait records. A record ends when the lane's server responds, or when no task of the lane waits
    /// for a route any more.
    private var recorded: Set<LaneID> = []
    /// Whether the timer runs because the network has changed.
    private var hasChanged = false
    private var clockWait = ClockWait()
    /// Whether the kernel has a route to a name server, and the time of this check.
    private var hasRouteToNameServer: (value: Bool, at: Int64)?

    init(_ runtime: any Runtime, log: @escaping @Sendable (LogEntry) -> Void) {
        self.runtime = runtime
        self.log = log
    }

    /// Whether the lane is held: the kernel has no route to its origin, so its tasks do not start.
    func isHeld(_ lane: LaneID) -> Bool { lanes.contains(lane) }

    var heldLanes: Set<LaneID> { lanes }

    /// Whether the attempt failed because the kernel has no route to the task's server. The next
    /// attempt then waits for a route.
    func isUnreachable(_ task: StoredTask, _ failure: Failure, _ failureContext: FailureContext) -> Bool {
        Connectivity.isRouteMissing(
            failure, server: task.origin.server,
            Connectivity.Facts(
                isUnreachable: Routes.isUnreachable(failureContext.systemError, to: failureContext.triedAddress),
                hasRouteToNameServer: failure.status == .nameNotResolved && canReachNameServer()))
    }

    /// Whether the next attempt waits for the machine's clock, because a certificate is not valid yet.
    func waitsForClock(_ failureContext: FailureContext) -> Bool {
        guard failureContext.isNotYetValid else { return false }
        let clocks = runtime.clocks
        return clockWait.mustWait(
            wall: clocks.wallMilliseconds, isSynchronised: clocks.isSynchronised, now: clocks.bootMilliseconds)
    }

    /// Whether the kernel has a route to a name server. The result is kept for a second, because many tasks may fail
    /// together.
    private func canReachNameServer() -> Bool {
        if let known = hasRouteToNameServer, runtime.now - known.at < 1_000 { return known.value }
        let value = Routes.hasRouteToNameServer()
        hasRouteToNameServer = (value, runtime.now)
        return value
    }

    // MARK: Holds

    /// Holds the lane of the task. Returns the time until the next check in milliseconds. If the network changes, the
    /// check may begin earlier.
    func hold(_ task: StoredTask) -> (millisecondsUntilCheck: Int64, effects: [EngineEffect]) {
        lanes.insert(task.lane)
        watchRoutes()
        var effects: [EngineEffect] = [.holdChanged([task.lane])]
        if recorded.insert(task.lane).inserted {
            let hold = Hold(.connectivity, WaitReason.connectivity.text ?? "")
            effects.append(.waitBegan(.route(task.lane), [WaitScope(task.session, lane: task.lane)], hold))
        }
        if let timer, timer.isRunning { return (timer.millisecondsLeft, effects) }
        startTimer(pacing.millisecondsUntilCheck)
        return (pacing.millisecondsUntilCheck, effects)
    }

    private func watchRoutes() {
        guard watch == nil else { return }
        do throws(SystemError) {
            let routes = try NetworkChanges()
            watch = try runtime.watch(routes.number) { [unowned self] in
                if routes.take() { networkChanged() }
                return []
            }
        } catch {
            // Netlink sockets may be forbidden. Then only the timer releases the lanes.
            let what = "tasks without a network are retried later"
            log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }

    private func networkChanged() {
        guard !hasChanged else { return }
        let wait = pacing.millisecondsUntilCheck(afterChangeAt: runtime.now)
        if let timer, timer.isRunning, timer.millisecondsLeft <= wait { return }
        hasChanged = true
        startTimer(wait)
    }

    private func startTimer(_ milliseconds: Int64) {
        let timer = timer ?? runtime.timer { [unowned self] in retryAll() }
        self.timer = timer
        timer.start(milliseconds: milliseconds)
    }

    // MARK: Attempts

    /// Releases all lanes. A task that still has no route waits again after its attempt.
    private func retryAll() -> [EngineEffect] {
        pacing.noteCheck(at: runtime.now)
        let effects = release()
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.delays.releaseUnreachable()
            },
            then: { [unowned self] result in
                // If the store is full or failing for now, the tasks that wait for a route were not released. One
                // second later, the check of due tasks releases those tasks whose delay is over.
                guard case .success(let lanes) = result else { return [.due(at: runtime.now + 1_000)] }
                return [.tasksWait(in: lanes, reload: true), .endWaits(recorded.subtracting(lanes))]
            })
        return effects + [.schedule]
    }

    /// Releases these lanes, because the host has resumed their tasks, or because the tasks are due.
    func retryNow(_ tried: Set<LaneID>) -> [EngineEffect] {
        let released = lanes.intersection(tried)
        guard !released.isEmpty else { return [] }
        lanes.subtract(released)
        if lanes.isEmpty { _ = release() }
        return [.holdChanged(released)]
    }

    /// Releases all lanes, and stops the timer and the watch of routes.
    func release() -> [EngineEffect] {
        timer?.stop()
        watch?.cancel()
        watch = nil
        hasChanged = false
        hasRouteToNameServer = nil
        let released = lanes
        lanes = []
        return released.isEmpty ? [] : [.holdChanged(released)]
    }

    // MARK: Ends of waits

    /// Ends the lane's wait record, because its server has responded.
    func responded(_ lane: LaneID) -> [EngineEffect] { endWait(lane) }

    func connected() { pacing.connected() }

    private func endWait(_ lane: LaneID, since time: Int64? = nil) -> [EngineEffect] {
        recorded.remove(lane) == nil ? [] : [.waitEnded(.route(lane), at: time ?? runtime.clocks.wallMilliseconds)]
    }

    /// Ends the wait records of released lanes in which no task runs or is ready. The tasks of the lanes then wait for
    /// another reason.
    func endWaits(_ idle: [LaneID], since time: Int64) -> [EngineEffect] {
        idle.filter { !lanes.contains($0) }.flatMap { endWait($0, since: time) }
    }

    /// Finds the lanes in which no task waits for a route any more, and releases these lanes. It is called after tasks
    /// have ended or stopped.
    func tasksStopped(_ affected: Set<LaneID>) {
        let candidates = affected.intersection(recorded)
        guard !candidates.isEmpty else { return }
        let now = runtime.clocks.wallMilliseconds
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.delays.unreachableLanes(among: candidates)
            },
            then: { waiting in
                [.routeNotNeeded(candidates.subtracting(waiting), since: now)]
            })
    }
}
