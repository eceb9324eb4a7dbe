/// Counts the received and sent bytes for each network, local day and session. The counts are compared with budgets,
/// which limit the bytes of a day or month.
///
/// Bytes are counted under the number of the local day. If the clock is set back to an earlier day, the count of that
/// day continues. For each network, the latest `dayLimit` days with traffic are kept. The limit is a number of days,
/// not an age, so a clock that shows 2040 for a minute does not remove the real days.
public struct ByteUsage: Equatable, Sendable {
    /// One stored usage record.
    public struct Entry: Hashable, Sendable {
        public var network: String
        public var session: SessionID
        /// The number of the day, as in `BudgetPeriod.dayNumber`.
        public var day: Int64
        /// All bytes received and sent on this day, including the bytes that are already saved.
        public var bytes: UInt64

        public init(network: String, session: SessionID, day: Int64, bytes: UInt64) {
            self.network = network
            self.session = session
            self.day = day
            self.bytes = bytes
        }
    }

    /// The number of days that are kept for each network. A month needs 31 days; the other days are for dates that a
    /// wrong clock has shown.
    static let dayLimit = 64

    private struct Day: Equatable {
        var total: UInt64 = 0
        var bySession: [SessionID: UInt64] = [:]
    }
    private struct Key: Hashable {
        var network: String
        var day: Int64
        var session: SessionID
    }
    private var networks: [String: [Int64: Day]] = [:]
    private var unsaved: Set<Key> = []
    private var removed: [(network: String, day: Int64)] = []

    public init(_ saved: [Entry] = []) {
        for entry in saved { count(entry.bytes, entry.network, entry.session, entry.day) }
        for network in networks.keys { prune(network, keeping: nil) }
    }

    public static func == (left: ByteUsage, right: ByteUsage) -> Bool { left.networks == right.networks }

    /// Counts bytes that a session has moved now. `day`: the `BudgetPeriod.dayNumber` of the present time.
    public mutating func add(_ bytes: UInt64, network: String, session: SessionID, day: Int64) {
        guard bytes > 0 else { return }
        let isNewDay = networks[network]?[day] == nil
        count(bytes, network, session, day)
        unsaved.insert(Key(network: network, day: day, session: session))
        if isNewDay { prune(network, keeping: day) }
    }

    /// The bytes that were moved on a network in a day or month. `session`: the session that moved the bytes; nil for
    /// all sessions.
    public func used(on network: String, in period: BudgetPeriod, by session: SessionID? = nil) -> UInt64 {
        guard let days = networks[network] else { return 0 }
        return days.reduce(0) { sum, day in
            guard period.days.contains(day.key) else { return sum }
            return sum.saturatingAdd(session.map { day.value.bySession[$0] ?? 0 } ?? day.value.total)
        }
    }

    /// The names of the networks with traffic in the period, sorted.
    public func networks(in period: BudgetPeriod) -> [String] {
        networks.filter { $0.value.keys.contains(where: period.days.contains) }.map(\.key).sorted()
    }

    /// The budgets that apply to a session on a network, with the used bytes of each budget.
    public func budgets(
        of session: SessionID, _ own: ByteBudget, on network: NetworkSettings, now: Int64,
        localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> [BudgetUsage] {
        guard own != ByteBudget() || network.budget != ByteBudget() else { return [] }
        let day = BudgetPeriod.day(at: now, localOffsetMilliseconds: offset)
        let calendarMonth = BudgetPeriod.month(at: now, localOffsetMilliseconds: offset)
        let month = BudgetPeriod.month(at: now, startsOn: network.monthStartsOn, localOffsetMilliseconds: offset)
        let all: [(BudgetUsage.Owner, BudgetPeriod, UInt64?)] = [
            (.network, month, network.budget.monthly), (.session, calendarMonth, own.monthly),
            (.network, day, network.budget.daily), (.session, day, own.daily),
        ]
        return all.compactMap { owner, period, limit in
            guard let limit else { return nil }
            let used = used(on: network.name, in: period, by: owner == .session ? session : nil)
            return BudgetUsage(owner, network: network.name, period: period, limit: limit, used: used)
        }
    }

    /// Returns the entries that have changed since the last call. Each entry replaces the stored row with the same key.
    public mutating func takeUnsaved() -> [Entry] {
        defer { unsaved = [] }
        return unsaved.compactMap { key in
            networks[key.network]?[key.day]?.bySession[key.session].map {
                Entry(network: key.network, session: key.session, day: key.day, bytes: $0)
            }
        }
    }

    /// Notes that these entries could not be stored. The next `takeUnsaved` returns them again, with their values at
    /// that time.
    public mutating func failedToSave(_ entries: [Entry]) {
        for entry in entries { unsaved.insert(Key(network: entry.network, day: entry.day, session: entry.session)) }
    }

    /// Returns the days that are no longer kept. The caller removes their rows.
    public mutating func takeRemoved() -> [(network: String, day: Int64)] {
        defer { removed = [] }
        return removed
    }

    private mutating func count(_ bytes: UInt64, _ network: String, _ session: SessionID, _ day: Int64) {
        var use = networks[network]?[day] ?? Day()
        use.total = use.total.saturatingAdd(bytes)
        use.bySession[session] = (use.bySession[session] ?? 0).saturatingAdd(bytes)
        networks[network, default: [:]][day] = use
    }

    /// Removes the earliest days beyond `dayLimit`, except `today`. If the clock has been set back, `today` may be the
    /// earliest day.
    private mutating func prune(_ network: String, keeping today: Int64?) {
        guard let days = networks[network]?.keys.sorted(), days.count > Self.dayLimit else { return }
        for day in days.filter({ $0 != today }).prefix(days.count - Self.dayLimit) {
            networks[network]?[day] = nil
            removed.append((network, day))
        }
    }
}
