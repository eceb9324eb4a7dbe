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
        case .load(let lane, let limit): load(lane, limit)
        case .preempt(let origin): transfers.leastImportant(at: origin)?.giveWay()
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
        case .latestStart(let time): latestStart(at: time)
        case .conditionNeedsChanged: planPruning()
        case .calendarStepped(let step): calendarStepped(by: step)
        case .resume(let tasks): for task in tasks { transfers[task]?.goOn() }
        }
    }

    private func parkReadyTasks(of session: SessionID) {
        let tasks = scheduler.ready.values.filter { $0.session == session }
        let (startable, effects) = credentials.admit(tasks)
        let kept = Set(startable.map(\.id))
        for task in tasks where !kept.contains(task.id) { scheduler.drop(task.id) }
        apply(effects)
    }

    private func calendarStepped(by step: Int64) {
        scheduler.calendarStepped(by: step)
        for runner in transfers.all { runner.task.enqueuedMilliseconds += step }
        activities.look()
        // Earliest starts are times on the wall.
        if step != 0 { scheduler.releaseDue() }
    }
}
