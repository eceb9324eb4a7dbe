internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

// The parts of an engine, in groups: each group uses the ones before it.

/// Parts that most others use.
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

/// Connections of hosts and what they receive.
struct ClientParts {
    let registry: ClientRegistry
    let claims: SessionClaims
    let events: EventPublisher
    let progress: ProgressPublisher
}

/// Tasks that wait and tasks that run.
struct TaskParts {
    let reachability: ReachabilityController
    let scheduler: TaskScheduler
    let deadlines: DeadlineController
    let endings: EndingWriter
}

/// Parts that hold tasks. `ConditionsController` says in which order they judge.
struct ConditionParts {
    let monitor: ConditionsMonitor
    let budgets: BudgetAccounting
    let admission: BudgetAdmission
    let uplink: UplinkMonitor
    let holds: HoldController
    let throughput: ThroughputController
    let probes: ProbeController
}

/// What starts tasks.
struct StartParts {
    let loader: TaskLoader
    let context: TransferContext
}

/// Work of hosts that are not connected.
struct HostParts {
    let launches: LaunchController
    let activities: ActivityController
}

/// What the engine does beside transfers.
struct HousekeepingParts {
    let requestBodies: RequestBodyKeeper
    let leftovers: LeftoverSweeper
    let idle: IdleWatch
    let sleep: SleepController
    let storeRetries: StoreRetries
    let storeWatch: StoreWatch?
    /// Once a second while tasks run.
    let ticker: any RuntimeTimer

    func close() {
        requestBodies.close()
        idle.close()
        sleep.close()
        storeRetries.close()
        storeWatch?.close()
        ticker.stop()
    }
}
