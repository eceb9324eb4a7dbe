internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What all sessions may use together.
extension CommandHandler {
    func setLimits(_ limits: EngineLimits) throws(Failure) {
        try LimitsCheck.check(limits)
        once({ (transaction) throws(Failure) in
            try transaction.setLimits(limits)
            return (.done, nil)
        }, then: { core, _ in core.limits(limits) })
    }

    func limits() {
        read { (transaction) throws(Failure) in .limits(try transaction.limits()) }
    }
}

extension EngineCore {
    /// Takes new limits; they hold at once.
    func limits(_ limits: EngineLimits) {
        schedule.engineLimit = Int(limits.maximumRunningTasks)
        planPump()
    }
}
