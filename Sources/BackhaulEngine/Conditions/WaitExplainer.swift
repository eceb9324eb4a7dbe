internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Explains in listings why tasks wait. The task's row in the database does not have holds, the reason "no route" and
/// the pauses of origins, so they are added. For a budget or an earliest start, the row has the reason, and a sentence
/// is added.
struct WaitExplainer {
    let lanes: [LaneID: Lane]
    let holds: Holds
    let journal: WaitJournal
    let budgetDelays: BudgetDelays
    let reachability: ReachabilityController
    let origins: OriginController
    let clocks: any Clocks

    /// Adds the reason or its sentence to the listing of a waiting task.
    func explain(_ info: inout TaskInfo, _ facts: ListedTaskFacts, of session: SessionID) {
        switch info.reason {
        case .slot: addHold(to: &info, facts)
        case .budget where info.nextAttemptMilliseconds != 0:
            if let sentence = budgetDelays.sentence(info, facts, of: session) { info.reasonText = sentence }
        case .earliestStart: addStart(to: &info)
        default: break
        }
    }

    private func addStart(to info: inout TaskInfo) {
        guard let start = info.earliestStartMilliseconds else { return }
        info.reasonText = StartMessage.earliest(start, now: clocks.wallMilliseconds) {
            clocks.localOffsetMilliseconds(at: $0)
        }
        info.nextAttemptMilliseconds = start
    }

    private func addHold(to info: inout TaskInfo, _ facts: ListedTaskFacts) {
        guard let lane = lanes[facts.lane] else { return }
        let group = ConstraintGroup(facts.constraints, in: lane)
        let key = LaneGroup(lane: facts.lane, constraints: facts.constraints)
        if let hold = holds.hold(of: key, in: group) {
            info.reason = hold.reason
            info.reasonText = hold.sentence
            info.nextAttemptMilliseconds = hold.nextCheckMilliseconds ?? 0
        } else if reachability.isHeld(facts.lane) {
            // An earlier task of the same session and server waits for a route, so this task waits for a route, too.
            info.reason = .connectivity
            info.reasonText = info.reason.text
        } else if let wait = origins.millisecondsUntilEnd(of: lane.origin) {
            info.reason = .origin
            info.reasonText = OriginController.sentence(lane.origin)
            info.nextAttemptMilliseconds = clocks.wallMilliseconds + wait
        }
    }

    /// Why ready tasks of the group wait. The listing of a task (`addHold`) has the same reason, and its sentence.
    func reason(of key: LaneGroup) -> WaitReason {
        guard let lane = lanes[key.lane] else { return .slot }
        if let hold = holds.hold(of: key, in: ConstraintGroup(key.constraints, in: lane)) { return hold.reason }
        if reachability.isHeld(key.lane) { return .connectivity }
        return origins.millisecondsUntilEnd(of: lane.origin) == nil ? .slot : .origin
    }

    // MARK: All holds

    /// All holds, each with its number of waiting tasks. If the hold of a group and the hold of a slow lane stop a
    /// task, the task counts only for the hold of the group, as in the listing of tasks.
    func holdInfos(
        _ counts: [WaitingCount], _ names: [SessionID: (application: String, session: String)]
    ) -> [HoldInfo] {
        var tasks: [ConstraintGroup: UInt64] = [:]
        var infos: [HoldInfo] = []
        for count in counts {
            guard let lane = lanes[count.lane], let name = names[count.session] else { continue }
            let group = ConstraintGroup(count.constraints, in: lane)
            if holds.groups[group]?.holds.isEmpty == false {
                tasks[group, default: 0] += count.count
                continue
            }
            let key = LaneGroup(lane: count.lane, constraints: count.constraints)
            guard let hold = holds.slow[key] else { continue }
            infos.append(
                HoldInfo(
                    application: name.application, session: name.session, origin: lane.origin.text, hold: hold,
                    beganMilliseconds: began(.laneGroup(key)), tasks: count.count))
        }
        for (group, count) in tasks {
            guard let hold = holds.groups[group]?.holds.first, let name = names[group.session] else { continue }
            infos.append(
                HoldInfo(
                    application: name.application, session: name.session, hold: hold,
                    beganMilliseconds: began(.constraintGroup(group)), tasks: count))
        }
        return infos
    }

    private func began(_ tasks: HeldTasks) -> Int64 { journal.began(.hold(tasks)) ?? clocks.wallMilliseconds }
}
