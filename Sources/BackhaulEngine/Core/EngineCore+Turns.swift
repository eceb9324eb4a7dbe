internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Whose turn it is: asks the schedule, loads tasks ahead of their turn, starts them, and looks
/// again when a delay is over.
extension EngineCore {
    func add(_ lane: Lane, reload: Bool) {
        lanes[lane.id] = lane
        for task in schedule.add(lane.id, of: lane.session, to: lane.origin, reload: reload) { ready[task] = nil }
        probe(lane)
        schedule.setHeld(lane.id, unconnected.lanes.contains(lane.id))
        if lanes.count > lanesWorthALook { forgetLanes() }
    }

    /// Lanes come and go with their tasks: those that nothing here speaks of are read again when they are needed.
    private func forgetLanes() {
        var used = deferral.lanesInUse.union(unconnected.lanes)
        for task in ready.values { used.insert(task.lane) }
        for runner in runners.values { used.insert(runner.task.lane) }
        lanes = lanes.filter { used.contains($0.key) || schedule.knows($0.key) }
        lanesWorthALook = max(Self.fewLanes, 2 * lanes.count)
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
            storeUntilDone({ (transaction) throws(Failure) in
                var found: [Lane] = []
                for id in wanted { if let lane = try transaction.lane(id) { found.append(lane) } }
                return found
            }, then: { core, found in
                for lane in found { core.add(lane, reload: false) }
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

    func pump() {
        guard !hasFailed, !isLeaving else { return }
        probeInTurn()
        while !diskIsBehind, let step = schedule.next() {
            switch step {
            case .start(let id, let lane):
                let isProbe = schedule.isProbed(lane)
                guard let task = ready.removeValue(forKey: id), runners[id] == nil else {
                    schedule.released(lane)
                    if isProbe { schedule.endedProbe(lane) }
                    continue
                }
                // Its time may be over since it was loaded.
                if let wait = wait(before: task) {
                    schedule.released(lane)
                    if isProbe { schedule.endedProbe(lane) }
                    park([wait: [task]])
                    continue
                }
                run(task, holdsTurn: true, isProbe: isProbe)
            case .load(let lane, let limit): load(lane, limit)
            case .makeRoom(let origin): makeRoom(at: origin)
            }
        }
    }

    /// An urgent task waits: the least important of those that run goes back to wait for its turn.
    private func makeRoom(at origin: Origin?) {
        let candidates = runners.values.lazy.filter { runner in
            runner.mayGiveWay && (origin == nil || runner.task.origin == origin)
        }
        if let task = LeastImportant.among(candidates.map(\.candidate)) { runners[task]?.giveWay() }
    }

    func nextAttempt() -> UInt64 {
        lastAttempt += 1
        return lastAttempt
    }

    /// A network that is faster than the disk must not fill the memory: nothing more starts until it has caught up.
    var diskIsBehind: Bool { bytesToWrite > Self.bytesToWriteLimit || runners.count >= Self.runnerLimit }

    func run(_ task: StoredTask, holdsTurn: Bool, isProbe: Bool = false, probe: ProbeKind? = nil) {
        guard let configuration = sessions[task.session] else {
            if holdsTurn { schedule.released(task.lane) }
            if isProbe { schedule.endedProbe(task.lane) }
            return
        }
        let runner =
            task.request.kind == .upload
            ? UploadRunner(task: task, configuration: configuration, core: self, holdsTurn: holdsTurn)
            : DownloadRunner(task: task, configuration: configuration, core: self, holdsTurn: holdsTurn)
        runner.isProbe = isProbe
        runner.probe = probe
        runners[task.id] = runner
        endDelay(of: task.id)
        deferral.busy.note(taskClass(of: task), now: loop.now)
        if let rate = task.request.options.policy.bytesPerSecond { setRate(rate, of: .task(task.id)) }
        if !tickerRuns {
            tickerRuns = true
            ticker?.start(milliseconds: 1_000)
        }
        runner.start()
        planProgress()
    }

    func finished(_ runner: TaskRunner) {
        guard runners[runner.task.id] === runner else { return }
        runners[runner.task.id] = nil
        deferral.busy.note(taskClass(of: runner.task), now: loop.now)
        // While it is known on which network.
        countMoved()
        rates.end(runner.task.id)
        // Before others that were loaded meanwhile.
        if runner.gaveWay { tasksWait(in: [runner.task.lane], reload: true) }
        taskLeft(runner)
        if case .throughput(let key, _, _)? = runner.probe { endThroughputProbe(of: key, runner) }
        needsNoWay([runner.task.lane])
        if runners.isEmpty { planPruning() }
        considerSleep()
        runner.leaveCredentials()
        if runner.head != nil { unconnected.pacing.connected() }
        if runner.wasCancelled { sweepLeftovers() }
        leaveIfDone()
        planPump()
        considerLeaving()
        noteWork()
    }

    func tick() {
        tickerRuns = !runners.isEmpty && !hasFailed
        guard tickerRuns else { return }
        lookAtCalendar()
        for runner in Array(runners.values) { runner.tick() }
        countMoved()
        endOverdue()
        measureThroughput()
        prune()
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

    func releaseDue() {
        nextDue = nil
        lookAtCalendar()
        let now = Clock.bootMilliseconds
        store({ (transaction) throws(Failure) in
            (lanes: try transaction.releaseDue(bootMilliseconds: now), next: try transaction.nextDue())
        }, then: { core, result in
            switch result {
            case .success(let (lanes, next)):
                core.tryUnconnected(lanes)
                core.tasksWait(in: lanes.union(core.lanesToReload), reload: false)
                core.lanesToReload = []
                core.planPump()
                core.due(at: next)
                core.considerLeaving()
            case .failure:
                // The store is full or failing for now: look again.
                core.due(at: now + 1_000)
            }
        })
    }
}
