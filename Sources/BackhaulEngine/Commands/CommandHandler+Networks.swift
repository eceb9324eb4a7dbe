internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What an administrator says of networks, and what was moved on them.
extension CommandHandler {
    func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        try NetworkCheck.check(settings)
        once({ (transaction) throws(Failure) in
            try transaction.setNetwork(settings)
            return (.done, nil)
        }, then: { core, _ in core.apply(core.budgets.configure(settings)) })
    }

    func networks() {
        let (id, sequence) = (connection.id, sequence)
        Clock.readTimeZone()
        core.readConditions { core, _ in
            let (infos, effects) = core.budgets.networkInfos()
            core.clients.reply(id, sequence, .success(.networks(infos)))
            core.apply(effects)
        }
    }
}
