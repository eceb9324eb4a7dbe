internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// The parts (objects) of the engine that running tasks use. A task is one download or upload.
final class TransferContext {
    /// The functions of the engine for running tasks.
    struct Hooks {
        let apply: ([EngineEffect]) -> Void
        /// Writes the end of a task, together with the other ends of this iteration of the loop (`EndingWriter`).
        let end: (Ending) -> Void
        /// Whether so many tasks end that the store may delay their finish intents.
        let expectsFurtherEnds: () -> Bool
        /// This closure is called when an attempt (a run of a task) is over and its descriptors are closed.
        let finished: (any TransferRunner) -> Void
        /// Whether the engine is stopping.
        let isDraining: () -> Bool
    }

    let runtime: any Runtime
    let services: Services
    let transport: Transport
    let transfers: TransferSupervisor
    let scheduler: TaskScheduler
    let calendar: CalendarWatch
    let credentials: CredentialController
    let reachability: ReachabilityController
    let uplink: UplinkMonitor
    let budgets: BudgetAccounting
    let rates: RateLimiter
    let cookies: CookieController
    let files: StoreFiles
    let flushTimer: FlushTimer
    let hooks: Hooks

    init(
        _ runtime: any Runtime, _ services: Services, _ base: BaseParts, _ tasks: TaskParts,
        _ conditionParts: ConditionParts,
        _ hooks: Hooks
    ) {
        self.runtime = runtime
        self.services = services
        transport = base.transport
        transfers = base.transfers
        calendar = base.calendar
        credentials = base.credentials
        rates = base.rates
        cookies = base.cookies
        files = base.files
        scheduler = tasks.scheduler
        reachability = tasks.reachability
        uplink = conditionParts.uplink
        budgets = conditionParts.budgets
        self.hooks = hooks
        flushTimer = FlushTimer(runtime)
    }

    func apply(_ effects: [EngineEffect]) { if !effects.isEmpty { hooks.apply(effects) } }
}
