internal import BackhaulModel

/// Origins (scheme, host name and port) with a property that may change, such as a server that ignores Expect. An
/// origin counts for an hour, because the server may have been repaired by then. If there are too many, all are
/// forgotten.
struct TemporaryOrigins {
    /// The time at which each origin is forgotten, in milliseconds of the boot clock (CLOCK_BOOTTIME).
    private var ends: [Origin: Int64] = [:]

    private static let limit = 1_000
    static let milliseconds: Int64 = 3_600_000

    func includes(_ origin: Origin, now: Int64) -> Bool { ends[origin].map { now < $0 } ?? false }

    mutating func add(_ origin: Origin, now: Int64) {
        if ends[origin] == nil, ends.count >= Self.limit {
            ends = ends.filter { now < $0.value }
            if ends.count >= Self.limit { ends.removeAll() }
        }
        ends[origin] = now + Self.milliseconds
    }

    mutating func remove(_ origin: Origin) { ends[origin] = nil }
}
