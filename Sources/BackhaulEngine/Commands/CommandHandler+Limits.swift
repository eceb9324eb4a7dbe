internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

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
        scheduler.setLimits(limits)
        transport.maximumConnections = Int(limits.maximumConnections)
        setRate(limits.bytesPerSecond, of: .engine)
        scheduler.plan()
    }
}
