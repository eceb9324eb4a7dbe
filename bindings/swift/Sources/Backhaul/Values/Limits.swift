internal import CBackhaul

/// Limits for all sessions of the store together. Nil is the default.
public struct Limits: Hashable, Sendable {
    /// The rate of all transfers, both directions together. Default: no limit.
    public var bytesPerSecond: UInt64?
    /// Default: 256; at most 1,024.
    public var maximumRunningTasks: Int?
    /// Default: 256; at most 1,024.
    public var maximumConnections: Int?
    /// The connections of all sessions to one origin. Default: each session's own limit.
    public var connectionsPerOrigin: Int?

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
