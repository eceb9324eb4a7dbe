internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// Claims of an earlier engine's clients lapse when these clients do not reconnect: a process that closed its
/// application while no engine ran could not report it.
extension EngineCore {
    /// A library looks for another engine at once; a process that is stopped longer than that gives its claim up.
    private static let returnMilliseconds: Int64 = 10_000

    func expectClients() {
        returnTimer = loop.timer { [unowned self] in releaseAbsent() }
        returnTimer?.start(milliseconds: Self.returnMilliseconds)
    }

    private func releaseAbsent() {
        let present = clients.clients
        storeUntilDone({ (transaction) throws(Failure) in
            for known in try transaction.clients() where !present.contains(known.client) {
                try transaction.releaseClient(known.client)
            }
        }, then: { core, _ in
            core.claims.releasedAll()
        })
    }
}
