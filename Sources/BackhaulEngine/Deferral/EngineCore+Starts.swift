internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Latest starts, after which tasks wait for no preset's wishes any more.
extension EngineCore {
    func learn(_ constraints: some Sequence<StoredConstraints>) {
        for row in constraints { deferral.stated[row.session, default: [:]][row.id] = row.constraints }
    }

    /// Unix milliseconds; nil: no further one is known.
    func latestStart(at time: Int64?) {
        guard let time, time < deferral.latestStart ?? .max else { return }
        deferral.latestStart = time
        planLook()
    }

    func lookAtLatestStarts() {
        let now = Clock.wallMilliseconds
        guard let next = deferral.latestStart, next <= now else { return }
        deferral.latestStart = nil
        store({ (transaction) throws(Failure) in
            try transaction.movePastLatestStart(now: now)
        }, then: { core, result in
            switch result {
            case .success(let moved): core.passed(moved)
            // The store cannot commit for now.
            case .failure: core.latestStart(at: now + 1_000)
            }
        })
    }

    static func startClock(calendar: Int64) -> StartClock {
        StartClock(wall: Clock.wallMilliseconds, boot: Clock.bootMilliseconds, calendar: calendar)
    }

    private func passed(_ moved: RestatedTasks) {
        restated(moved)
        scheduler.tasksWait(in: moved.lanes, reload: true)
        latestStart(at: moved.next)
    }

    /// Tasks state something else now.
    func restated(_ moved: RestatedTasks) {
        learn(moved.constraints.values)
        var joined: [TaskRunner] = []
        for (id, constraints) in moved.tasks {
            scheduler.changeReady(id) { $0.constraints = constraints }
            guard let runner = runners[id], runner.task.constraints != constraints else { continue }
            runner.task.constraints = constraints
            joined.append(runner)
        }
        for runner in joined { hasJoined(runner) }
        planReconsider()
        planPruning()
    }
}
