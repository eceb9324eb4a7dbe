internal import CBackhaul

/// What all sessions of the store may use together. Nil stands for the default.
public struct Limits: Hashable, Sendable {
    /// Both ways. Default no limit.
    public var bytesPerSecond: UInt64?
    /// Default 256, at most 1,024.
    public var maximumRunningTasks: Int?
    /// Default 256, at most 1,024.
    public var maximumConnections: Int?
    /// Of all sessions to one origin. Default each session's own.
    public var connectionsPerOrigin: Int?

    public init() {}

    init(_ limits: bh_limits) {
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        bytesPerSecond = limits.bytes_per_second == 0 ? nil : limits.bytes_per_second
        maximumRunningTasks = number(limits.maximum_running_tasks)
        maximumConnections = number(limits.maximum_connections)
        connectionsPerOrigin = number(limits.connections_per_origin)
    }

    func value() throws(BackhaulError) -> bh_limits {
        bh_limits(
            struct_size: MemoryLayout<bh_limits>.size, bytes_per_second: bytesPerSecond ?? 0,
            maximum_running_tasks: try positive(maximumRunningTasks, "maximumRunningTasks"),
            maximum_connections: try positive(maximumConnections, "maximumConnections"),
            connections_per_origin: try positive(connectionsPerOrigin, "connectionsPerOrigin"))
    }
}
