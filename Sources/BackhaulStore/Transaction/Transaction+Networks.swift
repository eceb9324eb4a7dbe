public import BackhaulModel

/// What administrators say of networks, and what was moved on them.
extension Transaction {
    /// All defaults forget it.
    public func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        guard !settings.isDefault else { return try connection.run(Self.forget, .text(settings.name)) }
        try connection.run(
            Self.write, .text(settings.name), .optional(settings.isMetered.map { $0 ? 1 : 0 }),
            .number(settings.monthStartsOn), .bits(settings.budget.daily), .bits(settings.budget.monthly))
    }

    /// Of which something was said, by name.
    public func networks() throws(Failure) -> [NetworkSettings] {
        try connection.all(Self.select) { row throws(Failure) in
            var settings = NetworkSettings(name: row.text())
            settings.isMetered = row.optionalInteger().map { $0 != 0 }
            settings.monthStartsOn = row.number()
            settings.budget = ByteBudget(daily: row.optionalBits(), monthly: row.optionalBits())
            return settings
        }
    }

    /// Takes the place of what was kept under the same network, session and day. `removed`: days that are not kept any
    /// more.
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
        try connection.all(Self.selectUsage) { row throws(Failure) in
            ByteUsage.Entry(network: row.text(), session: row.sessionID(), day: row.integer(), bytes: row.number())
        }
    }

    private static let write = Query(
        """
        INSERT OR REPLACE INTO networks (name, metered, month_starts_on, daily_budget, monthly_budget)
        VALUES (?, ?, ?, ?, ?)
        """)
    private static let forget = Query("DELETE FROM networks WHERE name = ?")
    private static let select = Query(
        "SELECT name, metered, month_starts_on, daily_budget, monthly_budget FROM networks ORDER BY name")
    private static let writeUsage = Query(
        "INSERT OR REPLACE INTO usage (network, session_id, day, bytes) VALUES (?, ?, ?, ?)")
    private static let removeUsage = Query("DELETE FROM usage WHERE network = ? AND day = ?")
    private static let selectUsage = Query(
        "SELECT network, session_id, day, bytes FROM usage ORDER BY network, day, session_id")
}
