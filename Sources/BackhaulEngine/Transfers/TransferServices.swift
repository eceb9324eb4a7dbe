internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// What a runner uses while its task runs. Runners only ask the credentials and the endings. They change `traffic`,
/// `origins` and `flushTimer` directly. For every other change in another part, a runner returns an effect.
struct TransferServices {
    let runtime: any Runtime
    let disk: DiskThreads
    let directory: StoreDirectory
    let transport: Transport
    let traffic: Traffic
    let flushTimer: FlushTimer
    let credentials: CredentialController
    let origins: OriginController
    let endings: EndingWriter
}

/// The rate limits, the budgets, and the counters of the metrics. Runners call them directly, because this happens for
/// each chunk of bytes, and bytes are not passed as effects.
struct Traffic {
    let rates: RateLimiter
    let budgets: BudgetAccounting
    let counters: EngineCounters

    /// Whether a byte of the task may be received or sent now. If not, a later effect `.resume` names the task.
    /// `mayStop`: whether a used-up budget may stop the task.
    func mayMove(_ task: StoredTask, mayStop: @autoclosure () -> Bool) -> Bool {
        if budgets.isDeciding, mayStop(), !budgets.mayMove(task) { return false }
        return rates.mayMove(task.id, of: task.session)
    }
}
