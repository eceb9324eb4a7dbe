internal import BackhaulModel
internal import BackhaulStore

extension LaneGroup {
    init(of task: StoredTask) { self.init(lane: task.lane, constraints: task.constraints) }

    init(of task: RunningTask) { self.init(lane: task.lane, constraints: task.constraints) }
}

extension Lane {
    init(of task: StoredTask) { self.init(id: task.lane, session: task.session, origin: task.origin) }
}
