internal import BackhaulConditions
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What the conditions are, as far as some task depends on them, and when to look at them again.
extension EngineCore {
    /// Not so short that a mistake would keep the loop busy.
    private static let shortestLook: Int64 = 20

    /// Where conditions are read: the system, or what stands in for it in tests.
    func makeConditionsSource(_ changed: @escaping () -> Void) -> any ConditionsSource {
        if let told = services.options.toldConditions {
            return told.source { [outbox = services.outbox] in outbox.post { core in core.monitor.sourceChanged() } }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }

    func conditionsChanged() {
        takeConditions()
        reconsider()
    }

    func takeConditions() {
        guard let findings = monitor.look() else { return }
        // What was moved until now was moved on the former network.
        if let network = findings.network { bookOn(network) }
        if findings.isOtherNetwork {
            _ = deferral.throughput.networkChanged()
            _ = deferral.uplink.networkChanged()
            releaseDelayed()
            // Whoever asks for one class alone may be the first to learn of it.
            planReconsider()
        }
        if deferral.uplink.connectivity(findings.connectivity, now: loop.now) { planReconsider() }
        monitor.decide()
        // Before anything is decided by it.
        countMoved()
    }

    // MARK: What people see

    /// What the system offers now, read for this if nothing depends on it.
    func readConditions(then: @escaping @Sendable (EngineCore, [ConditionInfo]) -> Void) {
        monitor.readAll { [unowned self] conditions in
            let moved = runners.values.reduce(0) { $0 &+ $1.rate.bytesPerSecond }
            let infos = ConditionTexts.infos(
                conditions, bytesPerSecond: runners.isEmpty ? nil : moved, since: monitor.since,
                now: Clock.wallMilliseconds)
            then(self, infos)
        }
    }

    // MARK: What depends on them

    /// Once at the end of this turn.
    func planPruning() {
        guard !deferral.isPruningPlanned else { return }
        deferral.isPruningPlanned = true
        loop.afterThisTurn { [unowned self] in
            deferral.isPruningPlanned = false
            prune()
        }
    }

    /// Forgets classes without tasks, and reads no more than what the others depend on.
    func prune() {
        // The answers say which classes wait there.
        guard !hasFailed, deferral.loading.isEmpty else { return }
        var alive: Set<TaskClass> = []
        for (id, constraints) in deferral.waiting {
            guard let lane = lanes[id] else { continue }
            for number in constraints {
                alive.insert(TaskClass(session: lane.session, constraints: number, reach: lane.reach))
            }
        }
        for task in ready.values { alive.insert(taskClass(of: task)) }
        for runner in runners.values {
            let key = taskClass(of: runner.task)
            alive.insert(key)
            deferral.busy.note(key, now: loop.now)
        }
        let lasting = deferral.busy.lasting(now: loop.now)
        // The next of them is about to begin.
        for key in lasting where deferral.classes[key]?.held == nil { alive.insert(key) }
        for (key, state) in deferral.classes where !alive.contains(key) {
            if let held = state.held { journal.end(held.rows) }
            deferral.classes[key] = nil
        }
        deferral.forgetStated()
        for (key, held) in deferral.slow where !isAlive(key) {
            journal.end(held.rows)
            deferral.slow[key] = nil
            deferral.throughput.forget(key)
        }
        forgetEndsOfTime()
        var needs = deferral.needs(lasting: lasting, activityNeeds: activities.needs)
        if networkIsAsked() { needs.insert(.network) }
        if !needs.contains(.network) { bookOnUnknown() }
        monitor.setNeeds(needs)
        watchTimeZone()
        planLook()
    }

    private func isAlive(_ key: LaneClass) -> Bool {
        deferral.waiting[key.lane]?.contains(key.constraints) == true
            || runners.values.contains { laneClass(of: $0.task) == key }
    }

    /// Of sessions in which nothing is held any more.
    private func forgetEndsOfTime() {
        guard !deferral.endsOfTime.isEmpty else { return }
        let held = Set(deferral.classes.lazy.filter { !$0.value.mayStart }.map(\.key.session))
        let slow = Set(deferral.slow.keys.compactMap { lanes[$0.lane]?.session })
        deferral.endsOfTime = deferral.endsOfTime.filter { held.contains($0.key) || slow.contains($0.key) }
    }

    // MARK: When to look again

    /// By what was read, by the clock on the wall and by the calendar, whichever comes first.
    func planLook() {
        var next = monitor.nextLook.map { $0 - loop.now }
        let now = Clock.wallMilliseconds
        // Since all was reconsidered: one that has become due in the moment before the timer is not to be missed.
        let looked = deferral.reconsideredAt
        for probe in [deferral.throughput.nextProbe(now: looked), deferral.uplink.nextProbe(now: looked)] {
            if let probe { next = min(next ?? .max, probe - loop.now) }
        }
        if let end = deferral.busy.nextEnd { next = min(next ?? .max, end - loop.now) }
        if let end = networkUsage.asksUntil { next = min(next ?? .max, end - loop.now) }
        for end in deferral.endsOfTime.values { next = min(next ?? .max, end - calendar.milliseconds) }
        if let start = deferral.latestStart { next = min(next ?? .max, start - now) }
        for (key, state) in deferral.classes {
            // Since it was decided: what has changed in the moment after is not to be missed.
            let facts = facts(of: key, at: state.decidedAt ?? now)
            guard let change = DeferralDecision.nextChange(state.constraints, facts) else { continue }
            next = min(next ?? .max, change - now)
        }
        guard let next else {
            deferral.timer?.stop()
            return
        }
        let timer = deferral.timer ?? loop.timer { [unowned self] in look() }
        deferral.timer = timer
        timer.start(milliseconds: min(max(Self.shortestLook, next), CalendarWatch.longestLook))
    }

    func look() {
        Clock.readTimeZone()
        calendar.look()
        lookAtLatestStarts()
        endHeldOverdue()
        conditionsChanged()
    }

    func closeConditions() {
        monitor.close()
        deferral.timer?.stop()
        deferral.sleepTimer?.stop()
        deferral.timeZone?.watch.cancel()
        deferral.timeZone = nil
    }
}
