internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Tasks are loaded from the store ahead of their turn; those that are held back stay there.
extension EngineCore {
    private struct LoadedTasks: Sendable {
        var tasks: [StoredTask]
        /// No other waits in the lane.
        var isAll: Bool
        /// Of all that wait in the lane, held or not.
        var constraints: Set<ConstraintsID>
        /// Those of them that were not known here.
        var stated: [StoredConstraints]
        /// Some were left out, which wait for a later start now; when the next of them is due, by the boot clock.
        var nextDue: Int64?
    }

    func load(_ lane: LaneID, _ limit: Int) {
        var known = Set(ready.values.filter { $0.lane == lane }.map(\.id))
        for runner in runners.values where runner.task.lane == lane { known.insert(runner.task.id) }
        let passedOver = known
        let held = lanes[lane].map(deferral.leftOut) ?? []
        deferral.loading[lane] = held
        let calendar = calendar.milliseconds
        let stated = lanes[lane].flatMap { deferral.stated[$0.session] } ?? [:]
        store({ (transaction) throws(Failure) in
            let tasks = try transaction.waitingTasks(lane: lane, limit: limit, afterKnown: passedOver, notOf: held)
            let startable = try transaction.startable(tasks, Self.startClock(calendar: calendar))
            let constraints = try transaction.waitingConstraints(of: lane)
            return LoadedTasks(
                tasks: startable, isAll: tasks.count < limit, constraints: constraints,
                stated: try transaction.statedConstraints(constraints.filter { stated[$0] == nil }),
                nextDue: startable.count < tasks.count ? try transaction.nextDue() : nil)
        }, then: { core, result in
            core.deferral.loading[lane] = nil
            switch result {
            case .success(let answer): core.loaded(answer, of: lane)
            case .failure:
                // The store cannot read for now: it is asked again with the next look at what is due.
                core.scheduler.loaded(lane, [], isAll: false)
                core.scheduler.reloadLater([lane])
            }
        })
    }

    private func loaded(_ answer: LoadedTasks, of lane: LaneID) {
        let isAll = answer.isAll
        learn(answer.stated)
        let held = noteWaiting(answer.constraints, in: lane, isAll: isAll)
        let mayStart = held.isEmpty ? answer.tasks : answer.tasks.filter { !held.contains($0.constraints) }
        let tasks = fitting(mayStart, in: lane).filter { runners[$0.id] == nil && ready[$0.id] == nil }
        let (startable, effects) = credentials.admit(tasks)
        scheduler.loaded(lane, startable, isAll: isAll)
        reachability.endWaitIfIdle(lane)
        // Behind those that are held since they were asked for stand others.
        if !isAll, mayStart.count < answer.tasks.count || answer.nextDue != nil {
            scheduler.tasksWait(in: [lane], reload: false)
        }
        scheduler.due(at: answer.nextDue)
        apply(effects)
        scheduler.plan()
    }

    /// Tasks with these constraints wait in the lane. Returns those that are held.
    private func noteWaiting(_ constraints: Set<ConstraintsID>, in id: LaneID, isAll: Bool) -> Set<ConstraintsID> {
        guard let lane = lanes[id] else { return [] }
        for number in constraints { note(TaskClass(session: lane.session, constraints: number, reach: lane.reach)) }
        // Where all servers together are too slow, so are those that nobody has met.
        if deferral.throughput.holdsAny {
            for number in constraints { reconsiderThroughput(of: LaneClass(lane: id, constraints: number)) }
        }
        let held = constraints.filter { !deferral.mayStart(LaneClass(lane: id, constraints: $0), lane) }
        let waiting = isAll ? held : constraints
        deferral.waiting[id] = waiting.isEmpty ? nil : waiting
        if !held.isEmpty {
            noteHeld(lane.session)
            // One of them may be the next to find out whether it goes on.
            if deferral.uplink.isHeld || deferral.slow.keys.contains(where: { $0.lane == id }) { planReconsider() }
        }
        if runners.isEmpty { planPruning() }
        return held
    }
}
