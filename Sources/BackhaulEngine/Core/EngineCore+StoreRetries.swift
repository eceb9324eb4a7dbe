internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// Work of the engine itself on the store, which no client waits for and repeats.
extension EngineCore {
    private static let retryMilliseconds: Int64 = 1_000

    /// As `store`. While the store cannot do it for want of memory or space, it is tried again each second: without the
    /// result, tasks would wait for ever.
    func storeUntilDone<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result,
        then: @escaping @Sendable (EngineCore, Result) -> Void
    ) {
        store(body, then: { core, result in
            switch result {
            case .success(let value): then(core, value)
            case .failure(let failure) where failure.endsStore: break
            case .failure: core.retryLater { core in core.storeUntilDone(body, then: then) }
            }
        })
    }

    func retryLater(_ work: @escaping (EngineCore) -> Void) {
        storeRetries.append(work)
        guard storeRetries.count == 1 else { return }
        storeRetryTimer = loop.timer { [unowned self] in
            let due = storeRetries
            storeRetries = []
            for work in due { work(self) }
        }
        storeRetryTimer?.start(milliseconds: Self.retryMilliseconds)
    }
}
