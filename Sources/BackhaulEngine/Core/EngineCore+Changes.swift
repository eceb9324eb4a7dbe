internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A session as its clients call it.
struct NamedSession: Hashable, Sendable {
    var application: String
    var identifier: String

    // As the store compares them, byte by byte; texts of Swift are equal when they look the same.
    static func == (left: NamedSession, right: NamedSession) -> Bool {
        left.application.utf8.elementsEqual(right.application.utf8)
            && left.identifier.utf8.elementsEqual(right.identifier.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in identifier.utf8 { hasher.combine(byte) }
        hasher.combine(application.utf8.count)
    }
}

/// What follows from changed rows.
extension EngineCore {
    /// Rows changed: running downloads follow, and clients of the application learn of new events.
    func apply(_ change: Change, tasksEndedOrStopped: RunnerEvent? = nil) {
        if let event = tasksEndedOrStopped {
            needsNoWay(change.lanes)
            for id in change.tasks {
                forgetRepeats(of: id)
                endDelay(of: id)
                if let runner = runners[id] {
                    event == .cancel ? runner.cancel() : runner.take(event)
                } else if let task = ready.removeValue(forKey: id) {
                    schedule.drop(id, in: task.lane)
                }
            }
        }
        if tasksEndedOrStopped == .cancel {
            sweepLeftovers()
            sweepBodies()
        }
        forgetClosed(change)
        tasksWait(in: change.lanes, reload: false)
        announce(change)
        if change.sessionRemoved { removed(change) }
    }

    /// The session is gone, and with it its consumer.
    func removed(_ change: Change) {
        forget(change.session)
        tryWaiting(NamedSession(application: change.application, identifier: change.identifier))
    }

    /// An event comes for a host that may be stopped; with it the engine's own process is.
    func noteStop(of connection: ClientConnection) {
        guard !connection.isLocal, let process = connection.process, let application = connection.application,
            connection.handles.values.contains(where: { $0.role == .consume })
        else { return }
        if launches.stopped.noteEvent(for: process.processID, now: loop.now) { launches.look(at: application) }
    }
}
