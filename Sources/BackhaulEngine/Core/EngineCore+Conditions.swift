internal import BackhaulConditions
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

extension EngineCore {
    /// Where conditions are read: the system, or the fake conditions of a test.
    func makeConditionsSource(_ changed: @escaping () -> Void) -> any ConditionsSource {
        if let told = services.options.toldConditions {
            return told.source { [outbox = services.outbox] in outbox.post { core in core.monitor.sourceChanged() } }
        }
        return ConditionsWatch(
            loop: loop, roots: services.options.conditions, log: services.options.log, onChange: changed)
    }

    /// The present conditions, read for this listing if nothing depends on them.
    func readConditions(then: @escaping @Sendable (EngineCore, [ConditionInfo]) -> Void) {
        monitor.readAll { [unowned self] conditions in
            let moved = transfers.all.reduce(0) { $0 &+ $1.attempt.exchange.rate.bytesPerSecond }
            let infos = ConditionTexts.infos(
                conditions, bytesPerSecond: transfers.isEmpty ? nil : moved, since: monitor.since,
                now: Clock.wallMilliseconds)
            then(self, infos)
        }
    }

    var explainer: WaitExplainer {
        WaitExplainer(scheduler: scheduler, holds: holds, admission: admission, reachability: reachability)
    }
}
