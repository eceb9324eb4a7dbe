internal import BackhaulModel

/// The origins (scheme, host name and port) of which the transport has found out something that may change. It forgets
/// each of them after an hour, because the server may have been repaired by then.
struct TemporaryOrigins {
    /// The time at which each origin is forgotten, in milliseconds of the boot clock (CLOCK_BOOTTIME).
    private var ends: [Origin: Int64] = [:]

    private static let limit = 1_000
    static let milliseconds: Int64 = 3_600_000

    func includes(_ origin: Origin, now: Int64) -> Bool { ends[origin].map { now < $0 } ?? false }

    mutating func add(_ origin: Origin, now: Int64) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[origin] = now + Self.milliseconds
    }

    mutating func remove(_ origin: Origin) { ends[origin] = nil }
}
