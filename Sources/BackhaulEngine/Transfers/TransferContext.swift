internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// The parts of the engine that running tasks use.
final class TransferContext {
    /// What the engine does for running tasks.
    struct Hooks {
        let apply: ([EngineEffect]) -> Void
        /// The task ends. Ends of one turn are committed together.
        let end: (Ending) -> Void
        /// The attempt is over, and its descriptors are closed.
        let finished: (any TransferRunner) -> Void
        /// The engine stops.
        let isLeaving: () -> Bool
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
        _ runtime: any Runtime, _ services: Services, _ transport: Transport, _ transfers: TransferSupervisor,
        _ scheduler: TaskScheduler, _ calendar: CalendarWatch, _ credentials: CredentialController,
        _ reachability: ReachabilityController, _ uplink: UplinkMonitor, _ budgets: BudgetAccounting,
        _ rates: RateLimiter, _ cookies: CookieController, _ files: StoreFiles, _ hooks: Hooks
    ) {
        self.runtime = runtime
        self.services = services
        self.transport = transport
        self.transfers = transfers
        self.scheduler = scheduler
        self.calendar = calendar
        self.credentials = credentials
        self.reachability = reachability
        self.uplink = uplink
        self.budgets = budgets
        self.rates = rates
        self.cookies = cookies
        self.files = files
        self.hooks = hooks
        flushTimer = FlushTimer(runtime)
    }

    func apply(_ effects: [EngineEffect]) { if !effects.isEmpty { hooks.apply(effects) } }
}
