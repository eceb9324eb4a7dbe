public import BackhaulModel

/// The tables with the settings of the whole store. The single row of `limits` has the limits that all sessions share.
/// `networks` has the settings that administrators have made for networks, and `usage` has the bytes that were
/// transferred on each network.
public struct SettingTable {
    let connection: Connection

    public func setLimits(_ limits: EngineLimits) throws(Failure) {
        try connection.run(Self.writeLimits, NewRow.values { limits.write(to: &$0) })
    }

    public func limits() throws(Failure) -> EngineLimits {
        try connection.first(Self.selectLimits, read: EngineLimits.init(row:)) ?? EngineLimits()
    }

    /// Stores the settings of a network. If all values are the defaults, removes the network's row.
    public func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        guard settings.isDefault else {
            return try connection.run(Self.writeNetwork, NewRow.values { settings.write(to: &$0) })
        }
        try connection.run(Self.removeNetwork, .text(settings.name))
    }

    /// Returns the settings of all networks that have settings, sorted by name.
    public func networks() throws(Failure) -> [NetworkSettings] {
        try connection.all(Self.selectNetworks, read: NetworkSettings.init(row:))
    }

    /// Stores how many bytes the networks have carried. An entry replaces the earlier entry of the same network,
    /// session and day. `removed` lists the days to remove.
    public func saveUsage(
        _ entries: [ByteUsage.Entry], removing removed: [(network: String, day: Int64)] = []
    ) throws(Failure) {
        for entry in entries {
            try connection.run(
                Self.writeUsage, .text(entry.network), .id(entry.session), .integer(entry.day), .number(entry.bytes))
        }
        for (network, day) in removed { try connection.run(Self.removeUsage, .text(network), .integer(day)) }
    }

    public func usage() throws(Failure) -> [ByteUsage.Entry] {
        try connection.all(Self.selectUsage, read: ByteUsage.Entry.init(row:))
    }

    private static let writeLimits = Query("INSERT OR REPLACE INTO limits") { EngineLimits().write(to: &$0) }
    private static let selectLimits = Query(EngineLimits.init(row:), "FROM limits WHERE id = 1")
    private static let writeNetwork = Query("INSERT OR REPLACE INTO networks") {
        NetworkSettings(name: "").write(to: &$0)
    }
    private static let removeNetwork = Query("DELETE FROM networks WHERE name = ?")
    private static let selectNetworks = Query(NetworkSettings.init(row:), "FROM networks ORDER BY name")
    private static let writeUsage = Query(
        "INSERT OR REPLACE INTO usage (network, session_id, day, bytes) VALUES (?, ?, ?, ?)")
    private static let removeUsage = Query("DELETE FROM usage WHERE network = ? AND day = ?")
    private static let selectUsage = Query(
        ByteUsage.Entry.init(row:), "FROM usage ORDER BY network, day, session_id")
}

extension EngineLimits {
    fileprivate init(row: inout Row) {
        self.init()
        bytesPerSecond = row.optionalBits("bytes_per_second")
        maximumRunningTasks = row.number("maximum_running_tasks")
        maximumConnections = row.number("maximum_connections")
        connectionsPerOrigin = row.optionalNumber("connections_per_origin")
    }

    fileprivate func write(to row: inout NewRow) {
        row.set("id", .integer(1))
        row.set("bytes_per_second", .bits(bytesPerSecond))
        row.set("maximum_running_tasks", .number(maximumRunningTasks))
        row.set("maximum_connections", .number(maximumConnections))
        row.set("connections_per_origin", .optional(connectionsPerOrigin))
    }
}

extension NetworkSettings {
    fileprivate init(row: inout Row) {
        self.init(name: row.text("name"))
        isMetered = row.optionalFlag("metered")
        monthStartsOn = row.number("month_starts_on")
        budget = ByteBudget(daily: row.optionalBits("daily_budget"), monthly: row.optionalBits("monthly_budget"))
    }

    fileprivate func write(to row: inout NewRow) {
        row.set("name", .text(name))
        row.set("metered", .optional(isMetered))
        row.set("month_starts_on", .number(monthStartsOn))
        row.set("daily_budget", .bits(budget.daily))
        row.set("monthly_budget", .bits(budget.monthly))
    }
}

extension ByteUsage.Entry {
    fileprivate init(row: inout Row) {
        self.init(
            network: row.text("network"), session: row.sessionID("session_id"), day: row.integer("day"),
            bytes: row.number("bytes"))
    }
}
