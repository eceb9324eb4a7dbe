internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// When a daemon ends by itself.
extension EngineCore {
    /// What there is to do, as far as the engine knows without the store. Nil while it ends.
    func leaveFacts() -> LeaveDecision.Facts? {
        guard !hasFailed, !isLeaving else { return nil }
        var facts = LeaveDecision.Facts()
        facts.connections = clients.connections.count
        facts.runningTasks = transfers.runners.count
        facts.isCleaning = leftovers.isSweeping || requestBodies.isBusy
        facts.launchesWait = launches.isBusy
        return facts
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
    func leaveIfUnconnected() {
        server?.acceptAll()
        guard clients.connections.isEmpty else { return }
        server?.close()
        server = nil
        end(.nothingLeft)
    }
}
