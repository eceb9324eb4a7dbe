import CBackhaul

/// The limits of a store (the directory with all data) for all its sessions (named collections of transfers) together.
/// A limit that is set to 0 gets its default. For `bytesPerSecond` and `connectionsPerOrigin`, the default is that the
/// store has no limit. If this default applies, the field is 0.
struct LimitsRecord {
    var bytesPerSecond: UInt64
    var runningTasks: UInt32
    var connections: UInt32
    var connectionsPerOrigin: UInt32

    init(_ limits: bh_limits) {
        bytesPerSecond = limits.bytes_per_second
        runningTasks = limits.maximum_running_tasks
        connections = limits.maximum_connections
        connectionsPerOrigin = limits.connections_per_origin
    }

    var limits: bh_limits {
        bh_limits(
            struct_size: MemoryLayout<bh_limits>.size, bytes_per_second: bytesPerSecond,
            maximum_running_tasks: runningTasks, maximum_connections: connections,
            connections_per_origin: connectionsPerOrigin, reserved: 0)
    }

    var json: JSON {
        .record(of: bh_limits.self, [
            ("bytes_per_second", .number(unlessZero: bytesPerSecond)),
            ("maximum_running_tasks", .number(runningTasks)), ("maximum_connections", .number(connections)),
            ("connections_per_origin", .number(unlessZero: connectionsPerOrigin)),
        ])
    }
}
