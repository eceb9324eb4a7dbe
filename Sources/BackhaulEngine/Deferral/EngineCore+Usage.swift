internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What was moved on which network, and what is said of networks.
struct NetworkUsage {
    /// By name: those of which something was said.
    var settings: [String: NetworkSettings] = [:]
    /// Those that this engine has seen.
    var kinds: [String: NetworkKinds] = [:]
    /// Over which bytes move: as all who know of networks have said, and for as long as they are asked.
    var current: Network?
    /// Moved since it was last counted, by session. It is counted from time to time, and when the network is known.
    var moved: [SessionID: UInt64] = [:]
    var movedTogether: UInt64 = 0
    /// By the boot clock; nil: nothing was.
    var lastMoved: Int64?
    /// Until then it is asked what the network is, by the boot clock.
    var asksUntil: Int64?
    /// Sessions that are far from the end of every budget, as of the last decisions.
    var far: Set<SessionID> = []
    /// A budget was used up in this turn, at the end of which it is decided who leaves: nobody takes more until then.
    var isSpent = false
    /// Who was told to wait for that.
    var stopped: Set<TaskID> = []

    var hasBudgets: Bool { settings.values.contains { $0.budget != ByteBudget() } }

    func settings(of network: String) -> NetworkSettings { settings[network] ?? NetworkSettings(name: network) }
}

/// Bytes of bodies are counted in memory, both ways, and booked in the ledger.
extension EngineCore {
    /// Counted together, far from the end of a budget.
    private static let step: UInt64 = 64 << 10
    /// With less left of a budget each piece is counted.
    private static let near: UInt64 = 1 << 20
    /// After the last byte: the next transfer is likely to begin within it.
    private static let askingMilliseconds: Int64 = 10_000

    /// Nil when there is none, nothing depends on it, or not all have said what it is: the kernel answers before the
    /// bus does, and has another name for the same network.
    private var currentNetwork: Network? {
        monitor.knowsNetwork ? monitor.conditions.network.value : networkUsage.current
    }

    func opened(_ networks: [NetworkSettings], _ entries: [ByteUsage.Entry]) {
        ledger.open(entries)
        for settings in networks { networkUsage.settings[settings.name] = settings }
        tellMetered()
    }

    /// Something has been said of a network, or is not said any more.
    func learn(_ settings: NetworkSettings) {
        networkUsage.settings[settings.name] = settings.isDefault ? nil : settings
        tellMetered()
        conditionsChanged()
        releaseDelayed()
    }

    private func tellMetered() {
        monitor.setMetered(networkUsage.settings.compactMapValues(\.isMetered))
    }

    // MARK: Counting

    /// Whatever stays within this machine is moved on no network.
    func noteMoved(_ bytes: Int, by task: StoredTask) {
        guard bytes > 0, reach(of: task) != .thisMachine else { return }
        networkUsage.moved[task.session, default: 0] &+= UInt64(bytes)
        networkUsage.movedTogether &+= UInt64(bytes)
        networkUsage.lastMoved = loop.now
        if networkUsage.movedTogether >= Self.step || !networkUsage.far.contains(task.session) { countMoved() }
    }

    /// This is the network, as all have said. What was moved until now was moved on the former one.
    func bookOn(_ network: Network) {
        if network.name != networkUsage.current?.name { countMoved() }
        networkUsage.current = network
    }

    /// Nobody is asked any more what the network is.
    func bookOnUnknown() {
        countMoved()
        networkUsage.current = nil
    }

    /// Where there are budgets the network stays known between one transfer and the next.
    func networkIsAsked() -> Bool {
        networkUsage.asksUntil = nil
        guard let end = networkUsage.lastMoved.map({ $0 + Self.askingMilliseconds }), end > loop.now,
            networkUsage.hasBudgets || sessions.hasBudgets
        else { return false }
        networkUsage.asksUntil = end
        return true
    }

    /// Each second while something is moved, at the end of each transfer, and when the network is known. `read`: just
    /// now, by whoever shows it.
    func countMoved(on read: Network? = nil) {
        guard let network = networkUsage.current ?? read else { return }
        networkUsage.kinds[network.name] = network.kind
        guard networkUsage.movedTogether > 0 else { return }
        let moved = networkUsage.moved
        networkUsage.moved = [:]
        networkUsage.movedTogether = 0
        let day = BudgetPeriod.dayNumber(
            at: Clock.wallMilliseconds, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        for (session, bytes) in moved {
            ledger.add(bytes, on: network.name, by: session, day: day, hasBudget: hasBudgets(session))
        }
        for session in moved.keys {
            if hasBudgets(session) { lookAtBudgets(of: session) } else { networkUsage.far.insert(session) }
        }
    }

    private func lookAtBudgets(of session: SessionID) {
        let budgets = budgets(of: session)
        let isUsedUp = budgets.contains(where: \.isUsedUp)
        if currentNetwork != nil, isUsedUp || budgets.allSatisfy({ $0.left >= Self.near }) {
            networkUsage.far.insert(session)
        } else {
            networkUsage.far.remove(session)
        }
        guard isUsedUp else { return }
        // Those that must not be interrupted go on beyond it.
        let isNew = deferral.classes.contains { key, state in
            !key.isLocal && hasBudgets(key.session) && state.held?.reasons.contains(.budget) != true
        }
        if isNew { networkUsage.isSpent = true }
        planReconsider()
    }

    /// It was decided who leaves: the others go on.
    func budgetsAreDecided() {
        networkUsage.isSpent = false
        networkUsage.far = []
        let stopped = networkUsage.stopped
        networkUsage.stopped = []
        for id in stopped { runners[id]?.goOn() }
    }

    // MARK: Budgets

    /// Whether the session's tasks depend on what was moved on the network.
    func hasBudgets(_ session: SessionID) -> Bool {
        networkUsage.hasBudgets || sessions[session].map { $0.budget != ByteBudget() } ?? false
    }

    /// Those that hold for the session on the current network; none when it is not known.
    /// `now`: Unix milliseconds.
    func budgets(of session: SessionID, at now: Int64 = Clock.wallMilliseconds) -> [BudgetUse] {
        guard hasBudgets(session), let network = currentNetwork, let configuration = sessions[session] else {
            return []
        }
        return ledger.usage.budgets(
            of: session, configuration.budget, on: networkUsage.settings(of: network.name),
            now: now, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
    }

    // MARK: What people see

    /// Networks of which something was said or on which something was moved this month, and the current one, by name,
    /// after the conditions were read.
    func networkInfos() -> [NetworkInfo] {
        let now = Clock.wallMilliseconds
        let current = monitor.read?.network.value
        countMoved(on: current)
        let month = BudgetPeriod.month(at: now, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        var names = Set(networkUsage.settings.keys).union(ledger.usage.networks(in: month))
        if let current { names.insert(current.name) }
        return names.sorted().map { info(of: $0, isCurrent: $0 == current?.name, now: now) }
    }

    private func info(of name: String, isCurrent: Bool, now: Int64) -> NetworkInfo {
        var info = NetworkInfo(networkUsage.settings(of: name))
        let day = BudgetPeriod.day(at: now, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        let month = BudgetPeriod.month(
            at: now, startsOn: info.settings.monthStartsOn, localOffsetMilliseconds: Clock.localOffsetMilliseconds)
        info.kind = networkUsage.kinds[name]
        info.isCurrent = isCurrent
        info.usedToday = ledger.usage.used(on: name, in: day)
        info.usedThisMonth = ledger.usage.used(on: name, in: month)
        info.dayEndsMilliseconds = day.endMilliseconds
        info.monthEndsMilliseconds = month.endMilliseconds
        return info
    }
}
