public import BackhaulModel

/// What all sessions of the store may use together.
extension Transaction {
    public func setLimits(_ limits: EngineLimits) throws(Failure) {
        try connection.run(
            Self.write, .bits(limits.bytesPerSecond), .number(limits.maximumRunningTasks),
            .number(limits.maximumConnections), .optional(limits.connectionsPerOrigin))
    }

    public func limits() throws(Failure) -> EngineLimits {
        let found = try connection.first(Self.select) { row throws(Failure) in
            var limits = EngineLimits()
            limits.bytesPerSecond = row.optionalBits()
            limits.maximumRunningTasks = row.number()
            limits.maximumConnections = row.number()
            limits.connectionsPerOrigin = row.optionalNumber()
            return limits
        }
        return found ?? EngineLimits()
    }

    private static let write = Query(
        """
        INSERT OR REPLACE INTO limits (id, bytes_per_second, maximum_running_tasks, maximum_connections,
            connections_per_origin)
        VALUES (1, ?, ?, ?, ?)
        """)
    private static let select = Query(
        """
        SELECT bytes_per_second, maximum_running_tasks, maximum_connections, connections_per_origin FROM limits
        WHERE id = 1
        """)
}
