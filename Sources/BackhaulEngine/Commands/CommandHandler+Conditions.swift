internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What the engine sees, and what it holds back for that.
extension CommandHandler {
    func conditions() {
        let (id, sequence) = (connection.id, sequence)
        core.readConditions { core, infos in core.clients.reply(id, sequence, .success(.conditions(infos))) }
    }

    func holds() {
        let (id, sequence) = (connection.id, sequence)
        core.store({ (transaction) throws(Failure) in
            (
                counts: try transaction.waitingCounts(), sessions: try transaction.activeSessions(),
                delayed: try transaction.delayed(for: .budget), began: try transaction.delaysBegan(for: .budget)
            )
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { found in
                let names = Dictionary(
                    found.sessions.map { ($0.id, (application: $0.application, session: $0.configuration.identifier)) },
                    uniquingKeysWith: { first, _ in first })
                let infos = core.holdInfos(found.counts, names)
                    + core.delayedInfos(found.delayed, began: found.began, names)
                return .holds(
                    infos.sorted { ($0.beganMilliseconds, $0.session) < ($1.beganMilliseconds, $1.session) })
            })
        })
    }
}

extension EngineCore {
    /// Who is held back, and how many of each.
    func holdInfos(
        _ counts: [WaitingCount], _ names: [SessionID: (application: String, session: String)]
    ) -> [HoldInfo] {
        var tasks: [TaskClass: UInt64] = [:]
        var infos: [HoldInfo] = []
        for count in counts {
            guard let lane = lanes[count.lane] else { continue }
            let key = TaskClass(session: count.session, constraints: count.constraints, reach: lane.reach)
            // As the tasks themselves say it: what holds all of their kind comes before what holds their lane.
            guard deferral.classes[key]?.held == nil else {
                tasks[key, default: 0] += count.count
                continue
            }
            let slow = deferral.slow[LaneClass(lane: count.lane, constraints: count.constraints)]
            guard let slow, let hold = slow.first, let name = names[count.session] else { continue }
            infos.append(
                HoldInfo(
                    application: name.application, session: name.session, origin: lane.origin.text, hold: hold,
                    beganMilliseconds: slow.began, tasks: count.count))
        }
        for (key, count) in tasks {
            guard let held = deferral.classes[key]?.held, let hold = held.first, let name = names[key.session] else {
                continue
            }
            infos.append(
                HoldInfo(
                    application: name.application, session: name.session, hold: hold, beganMilliseconds: held.began,
                    tasks: count))
        }
        return infos
    }
}
