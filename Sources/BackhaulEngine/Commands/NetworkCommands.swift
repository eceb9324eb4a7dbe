internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands for the settings of networks and the bytes that were transferred over them.
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
        // Waits for the store's queue. The engine has then read the settings of networks, which it does at its start.
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
