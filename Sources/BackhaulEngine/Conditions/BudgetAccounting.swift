internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// How much was moved on which network, what is left of the budgets of networks and sessions, and what the
/// administrator says of networks.
///
/// One for the store. Bytes of bodies are counted in memory, in both directions, and added to the ledger.
final class BudgetAccounting {
    /// Far from the end of every budget, so many bytes are counted together.
    private static let step: UInt64 = 64 << 10
    /// With less left of a budget, each piece is counted.
    private static let near: UInt64 = 1 << 20
    /// After the last byte: the next transfer is likely to begin within this time.
    private static let askingMilliseconds: Int64 = 10_000

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let monitor: ConditionsMonitor
    private let hasTasksWithinBudgets: () -> Bool
    private(set) lazy var ledger = UsageLedger(runtime, count: { [unowned self] in count() })
    /// By name: networks that the administrator has configured.
    private var settings: [String: NetworkSettings] = [:]
    /// Networks that this engine has used.
    private var kinds: [String: NetworkKinds] = [:]
    /// The network over which bytes move, as all sources agree, while something depends on it.
    private var current: Network?
    /// Bytes that are not in the ledger yet.
    private var moved: [SessionID: UInt64] = [:]
    private var movedTogether: UInt64 = 0
    /// By the boot clock; nil: nothing was moved.
    private var lastMoved: Int64?
    /// Until then the network is read, by the boot clock.
    private(set) var asksUntil: Int64?
    /// Sessions that are far from the end of every budget, as of the last decisions.
    private var far: Set<SessionID> = []
    /// Set when a budget was used up in this turn. Until it is decided which tasks leave, no task moves more.
    private var spent: Spent?

    private struct Spent {
        /// Tasks that wait for the decision.
        var stopped: Set<TaskID> = []
    }

    /// - hasTasksWithinBudgets: whether tasks run or wait that a budget which is used up would hold.
    init(
        _ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ monitor: ConditionsMonitor,
        hasTasksWithinBudgets: @escaping () -> Bool
    ) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.monitor = monitor
        self.hasTasksWithinBudgets = hasTasksWithinBudgets
    }

    func open(_ networks: [NetworkSettings], _ entries: [ByteUsage.Entry]) {
        ledger.open(entries)
        for network in networks { settings[network.name] = network }
        setMetered()
    }

    func close() { ledger.close() }

    /// The administrator has configured a network.
    func configure(_ network: NetworkSettings) -> [EngineEffect] {
        settings[network.name] = network.isDefault ? nil : network
        setMetered()
        return [.conditionsChanged, .judgeDelayed]
    }

    private func setMetered() { monitor.setMetered(settings.compactMapValues(\.isMetered)) }

    // MARK: Counting

    /// Traffic within this machine uses no network.
    func moved(_ bytes: Int, by task: StoredTask) -> [EngineEffect] {
        guard bytes > 0, scheduler.reach(of: task) != .thisMachine else { return [] }
        moved[task.session, default: 0] &+= UInt64(bytes)
        movedTogether &+= UInt64(bytes)
        lastMoved = runtime.now
        return movedTogether >= Self.step || !far.contains(task.session) ? count() : []
    }

    /// All sources agree on this network. Bytes moved until now are those of the former one.
    func networkIs(_ network: Network) -> [EngineEffect] {
        let effects = network.name != current?.name ? count() : []
        current = network
        return effects
    }

    /// The network is not read any more.
    func networkIsUnknown() -> [EngineEffect] {
        let effects = count()
        current = nil
        return effects
    }

    /// Where there are budgets, the network stays known between one transfer and the next.
    func updateAsking() -> Bool {
        asksUntil = nil
        guard let end = lastMoved.map({ $0 + Self.askingMilliseconds }), end > runtime.now,
            networksHaveBudgets || sessions.hasBudgets
        else { return false }
        asksUntil = end
        return true
    }

    /// Each second while bytes move, at the end of each transfer, and when the network is known.
    /// - read: the network as it was read just now, for a listing.
    func count(on read: Network? = nil) -> [EngineEffect] {
        guard let network = current ?? read else { return [] }
        kinds[network.name] = network.kind
        guard movedTogether > 0 else { return [] }
        let moved = moved
        self.moved = [:]
        movedTogether = 0
        let day = BudgetPeriod.dayNumber(
            at: Clock.wallMilliseconds, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        for (session, bytes) in moved {
            ledger.add(bytes, on: network.name, by: session, day: day, hasBudget: hasBudgets(session))
        }
        var effects: [EngineEffect] = []
        for session in moved.keys {
            if hasBudgets(session) { effects += lookAtBudgets(of: session) } else { far.insert(session) }
        }
        return effects
    }

    private func lookAtBudgets(of session: SessionID) -> [EngineEffect] {
        let budgets = budgets(of: session)
        let isUsedUp = budgets.contains(where: \.isUsedUp)
        if network != nil, isUsedUp || budgets.allSatisfy({ $0.left >= Self.near }) {
            far.insert(session)
        } else {
            far.remove(session)
        }
        guard isUsedUp else { return [] }
        // Tasks that must not be interrupted exceed it.
        if spent == nil, hasTasksWithinBudgets() { spent = Spent() }
        return [.reconsider]
    }

    /// A budget was used up in this turn, and it is not decided yet which tasks leave.
    var isDeciding: Bool { spent != nil }

    /// Returns false while it is decided which tasks leave because a budget is used up. The task is resumed afterwards.
    func mayMove(_ task: StoredTask) -> Bool {
        guard spent != nil, scheduler.reach(of: task) != .thisMachine else { return true }
        spent?.stopped.insert(task.id)
        return false
    }

    /// The tasks that leave have left: the others continue.
    func decided() -> [EngineEffect] {
        far = []
        guard let stopped = spent?.stopped else { return [] }
        spent = nil
        return stopped.isEmpty ? [] : [.resume(Array(stopped))]
    }

    // MARK: Budgets

    /// Nil when there is no network, nothing depends on it, or the sources disagree: the kernel answers before the bus
    /// does, and has another name for the same network.
    private var network: Network? { monitor.knowsNetwork ? monitor.conditions.network.value : current }

    private var networksHaveBudgets: Bool { settings.values.contains { $0.budget != ByteBudget() } }

    private func settings(of network: String) -> NetworkSettings { settings[network] ?? NetworkSettings(name: network) }

    /// Whether the session's tasks depend on what was moved on the network.
    func hasBudgets(_ session: SessionID) -> Bool {
        networksHaveBudgets || sessions[session].map { $0.budget != ByteBudget() } ?? false
    }

    /// The budgets of the session on the current network; none when the network is unknown.
    /// - now: Unix milliseconds.
    func budgets(of session: SessionID, at now: Int64 = Clock.wallMilliseconds) -> [BudgetUse] {
        guard hasBudgets(session), let network, let configuration = sessions[session] else { return [] }
        return ledger.usage.budgets(
            of: session, configuration.budget, on: settings(of: network.name), now: now,
            localOffsetMilliseconds: Clock.localOffsetMilliseconds)
    }

    // MARK: Listing

    /// Networks that were configured or used this month, and the current one, by name. The conditions were read before.
    func networkInfos() -> (infos: [NetworkInfo], effects: [EngineEffect]) {
        let now = Clock.wallMilliseconds
        let read = monitor.read?.network.value
        let effects = count(on: read)
        let month = BudgetPeriod.month(at: now, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        var names = Set(settings.keys).union(ledger.usage.networks(in: month))
        if let read { names.insert(read.name) }
        return (names.sorted().map { info(of: $0, isCurrent: $0 == read?.name, now: now) }, effects)
    }

    private func info(of name: String, isCurrent: Bool, now: Int64) -> NetworkInfo {
        var info = NetworkInfo(settings(of: name))
        let day = BudgetPeriod.day(at: now, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        let month = BudgetPeriod.month(
            at: now, startsOn: info.settings.monthStartsOn, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        info.kind = kinds[name]
        info.isCurrent = isCurrent
        info.usedToday = ledger.usage.used(on: name, in: day)
        info.usedThisMonth = ledger.usage.used(on: name, in: month)
        info.dayEndsMilliseconds = day.endMilliseconds
        info.monthEndsMilliseconds = month.endMilliseconds
        return info
    }
}
