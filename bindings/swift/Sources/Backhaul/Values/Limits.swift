internal import CBackhaul

/// The limits of all sessions of the store together. A property that is nil has its default value.
public struct Limits: Hashable, Sendable {
    /// The rate limit of all transfers, in both directions together. Nil or 0: no limit.
    public var bytesPerSecond: UInt64?
    /// The largest number of tasks that run at the same time: 1 to 1,024. Default: 256.
    public var maximumRunningTasks: Int?
    /// The largest number of connections that are open at the same time: 1 to 1,024. Default: 256.
    public var maximumConnections: Int?
    /// The largest number of connections of all sessions together to one origin. Default: only the limit of each
    /// session applies.
    public var connectionsPerOrigin: Int?

    /// Makes limits that all have their defaults.
    public init() {}

    init(_ limits: bh_limits) {
        bytesPerSecond = nonzero(limits.bytes_per_second)
        maximumRunningTasks = number(limits.maximum_running_tasks)
        maximumConnections = number(limits.maximum_connections)
        connectionsPerOrigin = number(limits.connections_per_origin)
    }

    func value() throws(BackhaulError) -> bh_limits {
        var value = bh_limits()
        value.struct_size = MemoryLayout<bh_limits>.size
        value.bytes_per_second = bytesPerSecond ?? 0
        value.maximum_running_tasks = try positive(maximumRunningTasks, "maximumRunningTasks")
        value.maximum_connections = try positive(maximumConnections, "maximumConnections")
        value.connections_per_origin = try positive(connectionsPerOrigin, "connectionsPerOrigin")
        return value
    }
}
