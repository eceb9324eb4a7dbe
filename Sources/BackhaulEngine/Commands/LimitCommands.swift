internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The commands for the limits of all sessions together.
struct LimitCommands {
    let call: CommandCall

    func setLimits(_ limits: EngineLimits) throws(Failure) {
        try LimitsCheck.check(limits)
        call.applyOnce(
            { (transaction) throws(Failure) in
                try transaction.settings.setLimits(limits)
                return (.done, nil)
            }, then: { _ in call.engine.limits(limits) })
    }

    func limits() {
        call.read { (transaction) throws(Failure) in .limits(try transaction.settings.limits()) }
    }
}
