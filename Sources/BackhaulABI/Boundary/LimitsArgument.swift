internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that its struct can be read until the call returns. All of it is copied here.

/// Reads `bh_limits`. Fields that are not set get their defaults.
enum LimitsArgument {
    private static let minimumSize = StructArgument.end(of: \bh_limits.reserved)

    static func read(_ pointer: UnsafePointer<bh_limits>?) throws(Failure) -> EngineLimits {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "limits"), "limits", into: bh_limits(), minimumSize: minimumSize)
        try StructArgument.checkReserved(UInt64(given.reserved), in: "limits")
        var limits = EngineLimits()
        limits.bytesPerSecond = PolicyArgument.unlessZero(given.bytes_per_second)
        if given.maximum_running_tasks > 0 { limits.maximumRunningTasks = given.maximum_running_tasks }
        if given.maximum_connections > 0 { limits.maximumConnections = given.maximum_connections }
        limits.connectionsPerOrigin = PolicyArgument.unlessZero(given.connections_per_origin)
        try LimitsCheck.check(limits)
        return limits
    }
}
