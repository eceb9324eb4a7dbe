/// How many bytes were moved, by network, local day and session: what budgets are compared with.
///
/// A day is a number, and what was counted under it stays, wherever the clock goes meanwhile: set back into a day, its
/// count goes on from where it was. Of each network the `dayLimit` latest days on which something was moved are kept,
/// not those of the last weeks: a clock that shows 2040 for a minute makes no room for itself.
public struct ByteUsage: Equatable, Sendable {
    /// A row of what is kept.
    public struct Entry: Hashable, Sendable {
        public var network: String
        public var session: SessionID
        /// As `BudgetPeriod.dayNumber`.
        public var day: Int64
        /// All that was moved, both ways: not what came since the last one.
        public var bytes: UInt64

        public init(network: String, session: SessionID, day: Int64, bytes: UInt64) {
            self.network = network
            self.session = session
            self.day = day
            self.bytes = bytes
        }
    }

    /// A month has 31; the others are days that a wrong clock has shown.
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

    /// `day`: `BudgetPeriod.dayNumber` of now.
    public mutating func add(_ bytes: UInt64, network: String, session: SessionID, day: Int64) {
        guard bytes > 0 else { return }
        let isNewDay = networks[network]?[day] == nil
        count(bytes, network, session, day)
        unsaved.insert(Key(network: network, day: day, session: session))
        if isNewDay { prune(network, keeping: day) }
    }

    /// What was moved on a network in a day or month; `session` nil: by all sessions.
    public func used(on network: String, in period: BudgetPeriod, by session: SessionID? = nil) -> UInt64 {
        guard let days = networks[network] else { return 0 }
        return days.reduce(0) { sum, day in
            guard period.days.contains(day.key) else { return sum }
            return sum.saturatingAdd(session.map { day.value.bySession[$0] ?? 0 } ?? day.value.total)
        }
    }

    /// Networks on which something was moved in that time, by name.
    public func networks(in period: BudgetPeriod) -> [String] {
        networks.filter { $0.value.keys.contains(where: period.days.contains) }.map(\.key).sorted()
    }

    /// The budgets that hold for a session on a network, with what is used of them.
    public func budgets(
        of session: SessionID, _ own: ByteBudget, on network: NetworkSettings, now: Int64,
        localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> [BudgetUse] {
        guard own != ByteBudget() || network.budget != ByteBudget() else { return [] }
        let day = BudgetPeriod.day(at: now, localOffsetMilliseconds: offset)
        let calendarMonth = BudgetPeriod.month(at: now, localOffsetMilliseconds: offset)
        let month = BudgetPeriod.month(at: now, startsOn: network.monthStartsOn, localOffsetMilliseconds: offset)
        let all: [(BudgetUse.Owner, BudgetPeriod, UInt64?)] = [
            (.network, month, network.budget.monthly), (.session, calendarMonth, own.monthly),
            (.network, day, network.budget.daily), (.session, day, own.daily),
        ]
        return all.compactMap { owner, period, limit in
            guard let limit else { return nil }
            let used = used(on: network.name, in: period, by: owner == .session ? session : nil)
            return BudgetUse(owner, network: network.name, period: period, limit: limit, used: used)
        }
    }

    /// What has changed since it was last asked, to be written over what is kept under the same key.
    public mutating func takeUnsaved() -> [Entry] {
        defer { unsaved = [] }
        return unsaved.compactMap { key in
            networks[key.network]?[key.day]?.bySession[key.session].map {
                Entry(network: key.network, session: key.session, day: key.day, bytes: $0)
            }
        }
    }

    /// Those entries could not be written: they are taken once more, as they are then.
    public mutating func failedToSave(_ entries: [Entry]) {
        for entry in entries { unsaved.insert(Key(network: entry.network, day: entry.day, session: entry.session)) }
    }

    /// Days that are not kept any more, to be removed.
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

    /// `today` stays, however early it is: the clock may have been set back far.
    private mutating func prune(_ network: String, keeping today: Int64?) {
        guard let days = networks[network]?.keys.sorted(), days.count > Self.dayLimit else { return }
        for day in days.filter({ $0 != today }).prefix(days.count - Self.dayLimit) {
            networks[network]?[day] = nil
            removed.append((network, day))
        }
    }
}
