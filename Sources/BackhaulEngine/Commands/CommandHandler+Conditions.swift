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
                let infos = core.explainer.holdInfos(found.counts, names)
                    + core.admission.infos(found.delayed, began: found.began, names)
                return .holds(
                    infos.sorted { ($0.beganMilliseconds, $0.session) < ($1.beganMilliseconds, $1.session) })
            })
        })
    }
}
