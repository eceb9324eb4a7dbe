internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that its struct is readable until the call returns. Everything is copied here.

/// Reads `bh_limits` and fills in defaults.
enum LimitsArgument {
    private static let firstSize = StructArgument.end(of: \bh_limits.reserved)

    static func read(_ pointer: UnsafePointer<bh_limits>?) throws(Failure) -> EngineLimits {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "limits"), "limits", into: bh_limits(), firstSize: firstSize)
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
