internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

extension TaskRunner {
    /// What its end says of the way to its origin.
    func noteUplink(_ failure: Failure?) {
        guard requests > 0 else { return }
        let target = head.flatMap(elsewhere)
        let ending = UplinkWatch.Ending(
            failure, redirectedTo: target, hasAnswered: head != nil,
            wasRefused: Routes.isRefused(circumstances.systemError))
        core.apply(core.uplink.ended(task, ending))
    }

    /// Whoever has answered in place of the task's origin: redirects are followed, also those of portals.
    func elsewhere(_ head: ResponseHead) -> Origin? {
        guard head.finalURL != task.request.url, let last = try? WebAddress.origin(of: head.finalURL),
            last != task.origin
        else { return nil }
        return last
    }
}
