internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands that list conditions and holds. A *condition* is a state of the system, such as its power source. A
/// *hold* is a reason for which tasks wait.
struct ConditionCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func conditions() {
        engine.readConditions { infos in call.reply(.success(.conditions(infos))) }
    }

    func holds() {
        call.read(
            { (transaction) throws(Failure) in
                (
                    counts: try transaction.lanes.waitingCounts(), sessions: try transaction.sessions.active(),
                    delayed: try transaction.delays.tasks(for: .budget),
                    began: try transaction.delays.began(for: .budget)
                )
            },
            reply: { found in
                let names = Dictionary(
                    found.sessions.map { ($0.id, (application: $0.application, session: $0.configuration.identifier)) },
                    uniquingKeysWith: { first, _ in first })
                let infos =
                    engine.explainer.holdInfos(found.counts, names)
                    + engine.conditionParts.budgetDelays.infos(found.delayed, began: found.began, names)
                return .holds(infos.sorted { ($0.beganMilliseconds, $0.session) < ($1.beganMilliseconds, $1.session) })
            })
    }
}
