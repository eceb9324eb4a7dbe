internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands for the settings of networks, and for the bytes that were transferred over each network.
struct NetworkCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        try NetworkCheck.check(settings)
        call.applyOnce(
            { (transaction) throws(Failure) in
                try transaction.settings.setNetwork(settings)
                return (.done, nil)
            }, then: { _ in engine.queue(engine.conditionParts.budgets.configure(settings)) })
    }

    func networks() {
        engine.runtime.clocks.readTimeZone()
        // The engine's first transaction reads the settings of networks. The store performs transactions one after the
        // other, in the order of the calls. So at the end of this empty transaction, the settings are known.
        engine.runtime.store(
            { _ in },
            then: { _ in
                engine.readConditions { _ in
                    let (infos, effects) = engine.conditionParts.budgets.networkInfos()
                    call.reply(.success(.networks(infos)))
                    engine.queue(effects)
                }
                return []
            })
    }
}
