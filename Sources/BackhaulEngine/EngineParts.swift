internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

// The parts of an engine, in groups. The engine runs tasks (downloads and uploads) for other programs, its clients. A
// part is an object with the state of one subject. Each group uses the groups before it.

/// The parts that most other parts use.
struct BaseParts {
    let transport: Transport
    let sessions: SessionTable
    let calendar: CalendarWatch
    let journal: WaitJournal
    let files: StoreFiles
    let transfers: TransferSupervisor
    let credentials: CredentialController
    let cookies: CookieController
    let rates: RateLimiter
}

/// The parts for connections of clients, and for events and progress.
struct ClientParts {
    let registry: ClientRegistry
    let claims: SessionClaims
    let events: EventPublisher
    let progress: ProgressPublisher
}

/// The parts for waiting tasks and for ends of tasks.
struct TaskParts {
    let reachability: ReachabilityController
    let scheduler: TaskScheduler
    let deadlines: DeadlineController
    let endings: EndingWriter
}

/// The parts that hold (delay) tasks because of conditions such as power. `ConditionsController` sets the order in
/// which they decide.
struct ConditionParts {
    let monitor: ConditionsMonitor
    let budgets: BudgetAccounting
    let admission: BudgetAdmission
    let uplink: UplinkMonitor
    let holds: HoldController
    let throughput: ThroughputController
    let probes: ProbeController
}

/// The parts that load and start tasks.
struct StartParts {
    let loader: TaskLoader
    let context: TransferContext
}

/// The parts that work while no program is connected: launches of programs, and activities (repeated work).
struct HostParts {
    let launches: LaunchController
    let activities: ActivityController
}

/// The parts for work other than transfers.
struct HousekeepingParts {
    let requestBodies: RequestBodyManager
    let leftovers: LeftoverSweeper
    let idle: IdleMonitor
    let sleep: SleepController
    let storeRetries: StoreRetries
    let storeWatch: StoreWatch?
    /// The timer that fires once a second while tasks run.
    let ticker: any RuntimeTimer

    func close() {
        requestBodies.close()
        leftovers.close()
        idle.close()
        sleep.close()
        storeRetries.close()
        storeWatch?.close()
        ticker.stop()
    }
}
