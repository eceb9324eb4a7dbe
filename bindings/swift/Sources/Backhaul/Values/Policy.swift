internal import CBackhaul

/// How one task differs from its session. What it leaves open is as the session's configuration says.
public struct Policy: Hashable, Sendable {
    public var retry = RetryPolicy()
    public var rules = TransferRules()
    public var constraints = Constraints()
    /// Of this task, beside the session's limit, both directions. `Session.setRate` changes it. Default no limit.
    public var bytesPerSecond: UInt64?

    public init() {}

    func value(_ arena: Arena) throws(BackhaulError) -> bh_policy {
        var value = bh_policy()
        value.struct_size = MemoryLayout<bh_policy>.size
        value.retry = try retry.value(arena)
        value.rules = try rules.value(arena)
        value.constraints = try constraints.value(arena)
        value.bytes_per_second = bytesPerSecond ?? 0
        return value
    }
}
