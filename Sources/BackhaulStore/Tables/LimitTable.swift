internal import BackhaulModel

/// The table `limits`. Its single row has the limits that all sessions (named collections of tasks) of the store share.
struct LimitTable {
    let connection: Connection

    func write(_ limits: EngineLimits) throws(Failure) {
        try connection.run(Self.write, NewRow.values { limits.write(to: &$0) })
    }

    func read() throws(Failure) -> EngineLimits? { try connection.first(Self.select, read: EngineLimits.init(row:)) }

    private static let write = Query("INSERT OR REPLACE INTO limits") { EngineLimits().write(to: &$0) }
    private static let select = Query(EngineLimits.init(row:), "FROM limits WHERE id = 1")
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
