internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What an administrator says of networks, and what was moved on them.
struct NetworkCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        try NetworkCheck.check(settings)
        call.once({ (transaction) throws(Failure) in
            try transaction.settings.setNetwork(settings)
            return (.done, nil)
        }, then: { _ in engine.apply(engine.holding.budgets.configure(settings)) })
    }

    func networks() {
        Clock.readTimeZone()
        // Behind what the engine reads from the store when it begins: the settings of networks are in memory then.
        engine.runtime.store({ _ in }, then: { _ in
            engine.readConditions { _ in
                let (infos, effects) = engine.holding.budgets.networkInfos()
                call.reply(.success(.networks(infos)))
                engine.apply(effects)
            }
            return []
        })
    }
}
