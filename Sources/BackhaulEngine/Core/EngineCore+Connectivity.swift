internal import BackhaulConditions
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Lanes to whose servers there is no way for now. Nothing of them starts until the network has changed or it is time
/// to look. Only while there are such is the kernel asked to tell.
struct Unconnected {
    var lanes: Set<LaneID> = []
    var pacing = ConnectivityPacing()
    var watch: Watch?
    var routes: RouteWatch?
    var timer: LoopTimer?
    /// Since a lane has been without a way, until its server answers or nothing of it waits for one any more.
    var rows: [LaneID: WaitRow] = [:]
    /// When the timer is for a change of the network.
    var hasChanged = false
    /// Whether names could be looked up, and when that was found.
    var reachesNameServer: (value: Bool, at: Int64)?
}

extension EngineCore {
    /// Whether no way leads to the task's server, so that trying again has to wait for one.
    func hasNoWay(to task: StoredTask, _ failure: Failure, _ circumstances: FailureCircumstances) -> Bool {
        Connectivity.isMissing(
            failure, server: task.origin.server,
            Connectivity.Facts(
                isUnreachable: Routes.isUnreachable(circumstances.systemError),
                reachesNameServer: failure.status == .nameNotResolved && reachesNameServer()))
    }

    /// Many tasks fail at the same moment for the same reason.
    private func reachesNameServer() -> Bool {
        if let known = unconnected.reachesNameServer, loop.now - known.at < 1_000 { return known.value }
        let value = Routes.reachNameServer()
        unconnected.reachesNameServer = (value, loop.now)
        return value
    }

    /// Holds the lane. Returns in how many milliseconds it is looked at again, at the latest.
    func holdUnconnected(_ lane: LaneID) -> Int64 {
        unconnected.lanes.insert(lane)
        schedule.setHeld(lane, true)
        if unconnected.rows[lane] == nil, let session = lanes[lane]?.session {
            let hold = Hold(.connectivity, WaitReason.connectivity.text ?? "")
            unconnected.rows[lane] = begin(WaitScope(session, lane: lane), hold).row
        }
        watchRoutes()
        if let timer = unconnected.timer, timer.isRunning { return timer.millisecondsLeft }
        startLookTimer(unconnected.pacing.untilLook)
        return unconnected.pacing.untilLook
    }

    private func watchRoutes() {
        guard unconnected.watch == nil else { return }
        do throws(SystemError) {
            let routes = try RouteWatch()
            unconnected.routes = routes
            unconnected.watch = try loop.watch(routes.number, .readable) { [unowned self] _ in
                if routes.takeChanges() { networkChanged() }
            }
        } catch {
            // Sockets of this kind may be forbidden: then it is looked at from time to time only.
            let what = "tasks without a network are looked at later"
            services.options.log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }

    private func networkChanged() {
        guard !unconnected.hasChanged else { return }
        let wait = unconnected.pacing.untilLook(afterChangeAt: loop.now)
        if let timer = unconnected.timer, timer.isRunning, timer.millisecondsLeft <= wait { return }
        unconnected.hasChanged = true
        startLookTimer(wait)
    }

    private func startLookTimer(_ milliseconds: Int64) {
        let timer = unconnected.timer ?? loop.timer { [unowned self] in lookForWays() }
        unconnected.timer = timer
        timer.start(milliseconds: milliseconds)
    }

    /// All that wait for a way try. Those that find none wait again.
    func lookForWays() {
        guard !hasFailed, !isLeaving else { return }
        unconnected.pacing.looked(at: loop.now)
        stopWaitingForWays()
        store({ (transaction) throws(Failure) in try transaction.releaseUnconnected() }, then: { core, result in
            switch result {
            case .success(let lanes):
                core.tasksWait(in: lanes, reload: false)
                for lane in core.unconnected.rows.keys where !lanes.contains(lane) { core.triesNoWay(lane) }
            // The store is full or failing for now; what is due is looked at, too.
            case .failure: core.due(at: Clock.bootMilliseconds + 1_000)
            }
        })
        planPump()
    }

    /// A server of this lane has answered.
    func hasWay(_ lane: LaneID, since time: Int64 = Clock.wallMilliseconds) {
        if let row = unconnected.rows.removeValue(forKey: lane) { end(row, at: time) }
    }

    /// Tasks of these lanes have ended or stopped. They may have been the last that waited for a way.
    func needsNoWay(_ lanes: Set<LaneID>) {
        let asked = lanes.filter { unconnected.rows[$0] != nil }
        guard !asked.isEmpty else { return }
        let now = Clock.wallMilliseconds
        storeUntilDone({ (transaction) throws(Failure) in
            try transaction.unconnected(among: asked)
        }, then: { core, waiting in
            let free = asked.subtracting(waiting).filter { lane in
                !core.runners.values.contains { $0.task.lane == lane }
            }
            core.tryUnconnected(free)
            for lane in free { core.triesNoWay(lane, since: now) }
            core.planPump()
        })
    }

    /// Its tasks may try, and none does: the others wait for something else.
    func triesNoWay(_ lane: LaneID, since time: Int64 = Clock.wallMilliseconds) {
        guard unconnected.rows[lane] != nil, !unconnected.lanes.contains(lane),
            !runners.values.contains(where: { $0.task.lane == lane }),
            !ready.values.contains(where: { $0.lane == lane })
        else { return }
        hasWay(lane, since: time)
    }

    /// Nothing is held and watched for any more.
    func stopWaitingForWays() {
        unconnected.timer?.stop()
        unconnected.watch?.cancel()
        unconnected.watch = nil
        unconnected.routes = nil
        unconnected.hasChanged = false
        unconnected.reachesNameServer = nil
        for lane in unconnected.lanes { schedule.setHeld(lane, false) }
        unconnected.lanes = []
    }

    /// The host wants them tried now, or their time has come.
    func tryUnconnected(_ lanes: Set<LaneID>) {
        for lane in lanes where unconnected.lanes.remove(lane) != nil { schedule.setHeld(lane, false) }
        if unconnected.lanes.isEmpty, unconnected.watch != nil { stopWaitingForWays() }
    }
}
