internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What follows from changed rows.
extension EngineCore {
    /// Rows changed: running downloads follow, and clients of the application learn of new events.
    func apply(_ change: Change, tasksEndedOrStopped: RunnerEvent? = nil) {
        if let event = tasksEndedOrStopped {
            tasksLeft(change.lanes)
            for id in change.tasks {
                forgetRepeats(of: id)
                admission.endDelay(of: id)
                if let runner = transfers[id] {
                    event == .cancel ? runner.cancel() : runner.take(event)
                } else {
                    scheduler.drop(id)
                }
            }
        }
        if tasksEndedOrStopped == .cancel {
            leftovers.sweep()
            requestBodies.sweep()
        }
        apply(credentials.closed(change.closedChallenges, of: change.session))
        scheduler.tasksWait(in: change.lanes, reload: false)
        announce(change)
        if change.sessionRemoved { removed(change) }
    }

    /// The session is gone, and with it its consumer.
    func removed(_ change: Change) {
        forget(change.session)
        claims.released(NamedSession(change))
    }

    /// Clients of the application learn of new events; what depends on ended tasks is looked at.
    func announce(_ change: Change) {
        activities.tasksEnded(change.tasks)
        guard change.newestEvent > .zero else { return }
        if change.needsHost { launches.look(at: change.application) }
        events.announce(change)
    }

    /// Tasks have ended, and their ends are in the store.
    func ended(_ endings: [Ending], _ change: Change?) {
        for ending in endings {
            transfers.runner(ending.end.task, ending.attempt)?.take(.concluded)
            forgetRepeats(of: ending.end.task)
        }
        guard let change else { return }
        if change.leavesBodies { requestBodies.sweep() }
        apply(credentials.closed(change.closedChallenges, of: change.session))
        announce(change)
    }

    func endAgain(_ ending: Ending, after failure: Failure) {
        transfers.runner(ending.end.task, ending.attempt)?.attempt.commitAgain(after: failure) { [unowned self] in
            endings.writeAgain(ending)
        }
    }

    /// Tasks of these lanes have ended or stopped.
    func tasksLeft(_ lanes: Set<LaneID>) {
        reachability.tasksLeft(lanes) { [unowned self] lane in transfers.isRunning(in: lane) }
    }

    /// The task has ended, or the host has done something with it.
    func forgetRepeats(of task: TaskID) {
        credentials.setRepeats(nil, of: task)
        transfers.setImmediateRepeats(nil, of: task)
    }
}
