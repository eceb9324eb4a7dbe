internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Counts the bytes that are transferred over each network. Computes what is left of the budgets of networks and
/// sessions. This object also has the administrator's settings of networks. To *read the network* is to find out which
/// network the transfers use.
///
/// Each engine has one object of this type. Received and sent bytes of bodies are counted in memory, and then added to
/// the `UsageLedger`.
final class BudgetAccounting {
    /// While no exact count is needed, this many bytes are collected, and then counted together.
    private static let countingStep: UInt64 = 64 << 10
    /// If a budget has fewer bytes left than this, each received or sent chunk is counted immediately.
    private static let nearEndBytes: UInt64 = 1 << 20
    /// After the last byte of a transfer, the network is still read for this many milliseconds. The next transfer often
    /// begins within this time.
    private static let networkReadMilliseconds: Int64 = 10_000

    private let runtime: any Runtime
    private var clocks: any Clocks { runtime.clocks }
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let monitor: ConditionsMonitor
    /// Whether a task may have a budget and may not be held by a used-up budget.
    private var hasTasksWithinBudgets = true
    private(set) lazy var ledger = UsageLedger(runtime, count: { [unowned self] in count() })
    /// The networks that the administrator has configured, by name.
    private var settings: [String: NetworkSettings] = [:]
    /// The kinds of the networks that this engine has used, by name.
    private var kinds: [String: NetworkKinds] = [:]
    /// The network that transfers use. Nil if nothing depends on the network, or if the sources of conditions disagree.
    private var current: Network?
    /// Bytes that are not in the ledger yet.
    private var moved: [SessionID: UInt64] = [:]
    /// The time of the last byte, by the boot clock; nil before the first byte.
    private var lastTransferTime: Int64?
    /// Sessions that need no exact count. At the last check, such a session had no budget, or had a used-up budget, or
    /// had at least `nearEndBytes` left of each budget.
    private var sessionsFarFromEnd: Set<SessionID> = []
    /// Set when a budget was used up in this iteration of the loop: the tasks that wanted to transfer bytes since then.
    /// No task transfers more bytes over a network until the engine has decided which tasks stop.
    private var paused: Set<TaskID>?

    init(
        _ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ monitor: ConditionsMonitor
    ) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.monitor = monitor
    }

    func open(_ networks: [NetworkSettings], _ entries: [ByteUsage.Entry]) -> [EngineEffect] {
        ledger.open(entries)
        for network in networks { settings[network.name] = network }
        return [.metered(metered)]
    }

    func close() { ledger.close() }

    /// Takes new settings of a network from the administrator.
    func configure(_ network: NetworkSettings) -> [EngineEffect] {
        settings[network.name] = network.isDefault ? nil : network
        return [.metered(metered), .conditionsChanged, .reevaluateDelayed]
    }

    private var metered: [String: Bool] { settings.compactMapValues(\.isMetered) }

    // MARK: Counting

    /// Counts bytes of the task. Traffic within this machine is not counted, because it uses no network.
    func moved(_ bytes: Int, by task: StoredTask) -> [EngineEffect] {
        guard bytes > 0, scheduler.networkScope(of: task) != .loopback else { return [] }
        moved[task.session, default: 0] &+= UInt64(bytes)
        lastTransferTime = runtime.now
        let isDue = moved.values.reduce(0, &+) >= Self.countingStep
        return isDue || !sessionsFarFromEnd.contains(task.session) ? count() : []
    }

    /// Sets the current network, on which all sources agree. If this is a new network, the bytes that were transferred
    /// until now are counted on the former network.
    func networkIdentified(_ network: Network) -> [EngineEffect] {
        let effects = network.name != current?.name ? count() : []
        current = network
        return effects
    }

    /// Forgets the current network, because the network is no longer read. The bytes that were transferred until now
    /// are counted on the forgotten network.
    func networkBecameUnknown() -> [EngineEffect] {
        let effects = count()
        current = nil
        return effects
    }

    /// The time until which the network is read to count bytes, by the boot clock. If there are budgets, it is read for
    /// some seconds after the last byte. Nil if this is not needed now.
    var readsNetworkUntil: Int64? {
        guard let end = lastTransferTime.map({ $0 + Self.networkReadMilliseconds }), end > runtime.now,
            networksHaveBudgets || sessions.hasBudgets
        else { return nil }
        return end
    }

    /// Adds the transferred bytes to the ledger, and checks the budgets. This function is called when enough bytes have
    /// been moved, each second during transfers, at the end of each transfer, before the ledger is saved, and when the
    /// network changes or is listed.
    /// - read: the network in use, which `networkInfos` has just read for a listing. It is used only if `current` is
    /// nil.
    func count(on read: Network? = nil) -> [EngineEffect] {
        guard let network = current ?? read else { return [] }
        kinds[network.name] = network.kind
        guard !moved.isEmpty else { return [] }
        let moved = moved
        self.moved = [:]
        let day = BudgetPeriod.dayNumber(
            at: clocks.wallMilliseconds, localOffsetMilliseconds: clocks.localOffsetMilliseconds)
        let sessions = moved.keys.sorted()
        for session in sessions {
            let bytes = moved[session] ?? 0
            ledger.add(bytes, on: network.name, by: session, day: day, hasBudget: hasBudgets(session))
        }
        var effects: [EngineEffect] = []
        for session in sessions {
            if hasBudgets(session) { effects += checkBudgets(of: session) } else { sessionsFarFromEnd.insert(session) }
        }
        return effects
    }

    private func checkBudgets(of session: SessionID) -> [EngineEffect] {
        let budgets = budgets(of: session)
        let isUsedUp = budgets.contains(where: \.isUsedUp)
        if network != nil, isUsedUp || budgets.allSatisfy({ $0.left >= Self.nearEndBytes }) {
            sessionsFarFromEnd.insert(session)
        } else {
            sessionsFarFromEnd.remove(session)
        }
        guard isUsedUp else { return [] }
        // If used-up budgets already hold all tasks with a budget, no decision is needed. Then the only tasks that
        // exceed their budgets are running tasks that must not be interrupted.
        if paused == nil, hasTasksWithinBudgets { paused = [] }
        return [.reconsider]
    }

    /// Whether a budget was used up in this iteration of the loop, and the engine has not decided yet which tasks stop.
    var isDeciding: Bool { paused != nil }

    /// Whether the task may transfer more bytes now. While the engine decides which tasks a used-up budget stops, no
    /// task that uses a network may transfer bytes. After the decision, the tasks that do not stop are resumed.
    func mayMove(_ task: StoredTask) -> Bool {
        guard paused != nil, scheduler.networkScope(of: task) != .loopback else { return true }
        paused?.insert(task.id)
        return false
    }

    /// Tasks have started, or their budgets have changed, since the last decision.
    func tasksChanged() { hasTasksWithinBudgets = true }

    /// Ends the decision: the tasks that a budget holds have stopped, and the others are resumed.
    /// `hasTasksWithinBudgets`: whether any task has a budget and is not held by a used-up budget.
    func decided(hasTasksWithinBudgets: Bool) -> [EngineEffect] {
        self.hasTasksWithinBudgets = hasTasksWithinBudgets
        sessionsFarFromEnd = []
        guard let paused else { return [] }
        self.paused = nil
        return paused.isEmpty ? [] : [.resume(paused.sorted())]
    }

    // MARK: Budgets

    /// The current network. Nil if there is no network, if nothing depends on the network, or if the sources of
    /// conditions disagree. They disagree for a moment when the kernel reports a network before NetworkManager does,
    /// because the kernel uses another name.
    private var network: Network? { monitor.isNetworkKnown ? monitor.conditions.network.value : current }

    private var networksHaveBudgets: Bool { settings.values.contains { $0.budget != ByteBudget() } }

    private func settings(of network: String) -> NetworkSettings { settings[network] ?? NetworkSettings(name: network) }

    /// Whether the session or any network has a budget.
    func hasBudgets(_ session: SessionID) -> Bool {
        networksHaveBudgets || sessions[session].map { $0.budget != ByteBudget() } ?? false
    }

    /// The budgets of each session that has budgets. `now`: Unix milliseconds.
    func budgetsOfAllSessions(at now: Int64) -> [SessionID: [BudgetUsage]] {
        var all: [SessionID: [BudgetUsage]] = [:]
        for session in sessions.ids where hasBudgets(session) { all[session] = budgets(of: session, at: now) }
        return all
    }

    /// The budgets of the session on the current network; none when the network is unknown.
    /// - now: Unix milliseconds; nil means the present time.
    func budgets(of session: SessionID, at now: Int64? = nil) -> [BudgetUsage] {
        guard hasBudgets(session), let network, let configuration = sessions[session] else { return [] }
        return ledger.usage.budgets(
            of: session, configuration.budget, on: settings(of: network.name), now: now ?? clocks.wallMilliseconds,
            localOffsetMilliseconds: clocks.localOffsetMilliseconds)
    }

    // MARK: Listing

    /// Returns the configured networks, the networks that were used this month, and the current network, sorted by
    /// name. The caller must have read the conditions before.
    func networkInfos() -> (infos: [NetworkInfo], effects: [EngineEffect]) {
        let now = clocks.wallMilliseconds
        let read = monitor.read?.network.value
        let effects = count(on: read)
        let month = BudgetPeriod.month(at: now, localOffsetMilliseconds: clocks.localOffsetMilliseconds)
        var names = Set(settings.keys).union(ledger.usage.networks(in: month))
        if let read { names.insert(read.name) }
        return (names.sorted().map { info(of: $0, isCurrent: $0 == read?.name, now: now) }, effects)
    }

    private func info(of name: String, isCurrent: Bool, now: Int64) -> NetworkInfo {
        var info = NetworkInfo(settings(of: name))
        let day = BudgetPeriod.day(at: now, localOffsetMilliseconds: clocks.localOffsetMilliseconds)
        let month = BudgetPeriod.month(
            at: now, startsOn: info.settings.monthStartsOn, localOffsetMilliseconds: clocks.localOffsetMilliseconds)
        info.kind = kinds[name]
        info.isCurrent = isCurrent
        info.usedToday = ledger.usage.used(on: name, in: day)
        info.usedThisMonth = ledger.usage.used(on: name, in: month)
        info.dayEndsMilliseconds = day.endMilliseconds
        info.monthEndsMilliseconds = month.endMilliseconds
        return info
    }
}
