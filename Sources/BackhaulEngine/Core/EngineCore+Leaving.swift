internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// When a daemon ends by itself.
extension EngineCore {
    /// After anything that may have been the last thing to do. Looked at in earnest when nothing has come for a while.
    func considerLeaving() {
        guard let linger = services.options.lingerMilliseconds, LeaveDecision.mayLeave(leaveFacts()) else { return }
        leaveTimer?.start(milliseconds: linger)
    }

    /// What the engine knows without asking the store.
    private func leaveFacts() -> LeaveDecision.Facts {
        var facts = LeaveDecision.Facts()
        facts.connections = connections.count
        facts.runningTasks = runners.count
        facts.isCleaning = isSweeping || isSweepingBodies || bodyReturns.isRunning
        facts.launchesWait = launches.isBusy
        return facts
    }

    func leaveIfNothingIsLeft() {
        guard !hasFailed, !isLeaving, LeaveDecision.mayLeave(leaveFacts()) else { return }
        store({ (transaction) throws(Failure) in
            (tasks: try transaction.tasksWait(), activities: try transaction.hasActivities())
        }, then: { core, result in
            // A store that cannot be read for now is asked again at the next occasion, by this or a later daemon.
            guard case .success(let waiting) = result else { return core.considerLeaving() }
            var facts = core.leaveFacts()
            facts.tasksWait = waiting.tasks
            facts.activitiesWait = waiting.activities
            if !core.hasFailed, !core.isLeaving, LeaveDecision.mayLeave(facts) { core.leave() }
        })
    }

    /// A newer library asks a daemon to make room.
    func leave(for library: Versions, _ connection: ClientConnection) {
        guard HandOver.leaves(services.welcome, askedBy: library) else {
            connection.deliver(.goodbye(Failure(.wrongState, "this engine leaves for nobody of that version")))
            return
        }
        end(.replaced(by: library))
    }

    /// Still under the store's lock: a client that connected up to now is served. One that comes later finds no socket,
    /// or sees its connection end unanswered; it waits for the lock and starts the next daemon.
    private func leave() {
        server?.acceptAll()
        guard connections.isEmpty else { return }
        server?.close()
        server = nil
        end(.nothingLeft)
    }
}
