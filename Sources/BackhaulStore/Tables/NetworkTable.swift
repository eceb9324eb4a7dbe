internal import BackhaulModel

/// The table `networks` has the settings that administrators have made for networks. The table `usage` has the bytes
/// that were transferred on each network.
struct NetworkTable {
    let connection: Connection

    func write(_ settings: NetworkSettings) throws(Failure) {
        try connection.run(Self.write, NewRow.values { settings.write(to: &$0) })
    }

    func remove(_ name: String) throws(Failure) { try connection.run(Self.remove, .text(name)) }

    /// Returns the settings, sorted by the name of the network.
    func all() throws(Failure) -> [NetworkSettings] {
        try connection.all(Self.select, read: NetworkSettings.init(row:))
    }

    func writeUsage(_ entry: ByteUsage.Entry) throws(Failure) {
        try connection.run(
            Self.writeUsage, .text(entry.network), .id(entry.session), .integer(entry.day), .number(entry.bytes))
    }

    func removeUsage(of network: String, day: Int64) throws(Failure) {
        try connection.run(Self.removeUsage, .text(network), .integer(day))
    }

    func usage() throws(Failure) -> [ByteUsage.Entry] {
        try connection.all(Self.selectUsage, read: ByteUsage.Entry.init(row:))
    }

    private static let write = Query("INSERT OR REPLACE INTO networks") { NetworkSettings(name: "").write(to: &$0) }
    private static let remove = Query("DELETE FROM networks WHERE name = ?")
    private static let select = Query(NetworkSettings.init(row:), "FROM networks ORDER BY name")
    private static let writeUsage = Query(
        "INSERT OR REPLACE INTO usage (network, session_id, day, bytes) VALUES (?, ?, ?, ?)")
    private static let removeUsage = Query("DELETE FROM usage WHERE network = ? AND day = ?")
    private static let selectUsage = Query(
        ByteUsage.Entry.init(row:), "FROM usage ORDER BY network, day, session_id")
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
