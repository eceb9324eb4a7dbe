internal import BackhaulModel
internal import BackhaulStore

/// What follows from changed rows.
extension EngineCore {
    /// Rows changed: running downloads follow, and clients of the application learn of new events.
    func apply(_ change: Change, tasksEndedOrStopped: DownloadMachine.Event? = nil) {
        if let event = tasksEndedOrStopped {
            for id in change.tasks {
                if let runner = runners[id] {
                    runner.handle(event)
                } else if let task = ready.removeValue(forKey: id) {
                    schedule.drop(id, in: task.lane)
                }
            }
        }
        tasksWait(in: change.lanes, reload: false)
        announce(change)
        if change.sessionRemoved { forget(change.session) }
    }

    func announce(_ change: Change) {
        guard change.newestEvent > .zero else { return }
        let notice = Notice.event(identifier: change.identifier, newest: change.newestEvent)
        for connection in connections.values where connection.application == change.application {
            connection.deliver(.notice(notice))
        }
    }
}
