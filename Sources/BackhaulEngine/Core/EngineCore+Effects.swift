internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The one place where effects of parts are applied, after the part that wants them has returned.
extension EngineCore {
    func apply(_ effects: [EngineEffect]) {
        for effect in effects { apply(effect) }
    }

    private func apply(_ effect: EngineEffect) {
        switch effect {
        case .fail(let failure): fail(failure)
        case .end(let reason): end(reason)
        case .mayBeIdle: idle.mayBeIdle()
        case .worked: idle.noteWork()
        case .giveMemoryBack:
            services.store.giveMemoryBack { [outbox = services.outbox] in
                outbox.post { _ in ProcessMemory.giveBack() }
            }
        case .leaveIfUnconnected: leaveIfUnconnected()
        case .storeDirectoryChanged: server?.mendSoon()
        case .retryLater(let work): storeRetries.add(work)
        case .announce(let change): announce(change)
        case .eventFor(let connection): if let connection = clients[connection] { launches.eventCame(for: connection) }
        case .opened(let session, let opening, let consumer):
            opened(session, opening, consumer)
            if clients[opening.address.connection] == nil { claims.released(opening.name) }
        case .ended(let endings, let change): ended(endings, change)
        case .notEnded(let ending, let failure): endAgain(ending, after: failure)
        case .schedule: scheduler.plan()
        case .startReadyTasks: startReadyTasks()
        case .start(let task, let isProbe): start(task, isProbe: isProbe)
        case .load(let lane, let limit): loader.load(lane, limit: limit)
        case .preempt(let origin): transfers.leastImportant(at: origin)?.preempt()
        case .releaseDue: scheduler.releaseDue()
        case .lookAtCalendar: calendar.look()
        case .reloadLater(let lanes): scheduler.reloadLater(lanes)
        case .holdChanged(let lanes): scheduler.holdChanged(of: lanes)
        case .endWaits(let lanes): for lane in lanes { reachability.endWaitIfIdle(lane) }
        case .credentialsChanged(let session):
            scheduler.credentialsChanged(of: session)
        case .parkReadyTasks(let session): parkReadyTasks(of: session)
        case .tasksWait(let lanes, let reload): scheduler.tasksWait(in: lanes, reload: reload)
        case .due(let time): scheduler.due(at: time)
        case .deferTasks(let tasks, let reason): deferRunning(tasks, for: reason)
        case .tasksAreHeld(let session): deadlines.tasksAreHeld(of: session)
        case .startProbe(let task, let key, let kind):
            if !startProbe(task, key, kind) { apply(probes.notStarted(key, kind)) }
        case .endOverdue(let tasks): endOverdue(tasks)
        case .restated(let moved): restated(moved)
        case .conditionsChanged: apply(conditions.conditionsChanged())
        case .conditionsDecided:
            sleep.consider()
            activities.conditionsChanged()
            apply(budgets.decided())
        case .reconsider: conditions.planReconsider()
        case .prune: conditions.planPruning()
        case .planLook: conditions.planLook()
        case .judgeDelayed: admission.judgeDelayed()
        case .clockWasSet: apply(conditions.clockWasSet())
        case .latestStart(let time): apply(deadlines.latestStart(at: time))
        case .calendarStepped(let step): calendarStepped(by: step)
        case .resume(let tasks): for task in tasks { transfers[task]?.attempt.goOn() }
        }
    }

    private func parkReadyTasks(of session: SessionID) {
        let tasks = scheduler.ready.values.filter { $0.session == session }
        let (startable, effects) = credentials.admit(tasks)
        let kept = Set(startable.map(\.id))
        for task in tasks where !kept.contains(task.id) { scheduler.drop(task.id) }
        apply(effects)
    }

    private func deferRunning(_ tasks: HeldTasks, for reason: WaitReason) {
        for runner in Array(transfers.all) where holds.contains(tasks, runner.attempt.task) {
            if case .laneGroup = tasks, probes.isProbe(runner.attempt.task.id) { continue }
            deferRunning(runner, for: reason)
        }
    }

    private func deferRunning(_ runner: any TransferRunner, for reason: WaitReason) {
        holds.waitsInStore(runner.attempt.task)
        runner.deferred(for: reason)
    }

    /// These tasks state other constraints now. Those that joined a held group leave.
    private func restated(_ moved: RestatedTasks) {
        holds.add(moved.constraints.values)
        var joined: [any TransferRunner] = []
        for (id, constraints) in moved.tasks {
            scheduler.changeReady(id) { $0.constraints = constraints }
            guard let runner = transfers[id], runner.attempt.task.constraints != constraints else { continue }
            runner.attempt.task.constraints = constraints
            joined.append(runner)
        }
        for runner in joined {
            let group = holds.group(of: runner.attempt.task)
            apply(conditions.note(group))
            let hold = holds.hold(of: LaneGroup(of: runner.attempt.task), in: group)
            if let hold { deferRunning(runner, for: hold.reason) }
        }
        conditions.planReconsider()
        conditions.planPruning()
    }

    private func calendarStepped(by step: Int64) {
        scheduler.calendarStepped(by: step)
        for runner in transfers.all { runner.attempt.task.enqueuedMilliseconds += step }
        activities.look()
        // Earliest starts are times on the wall.
        if step != 0 { scheduler.releaseDue() }
    }
}
