internal import CBackhaul

/// The settings of one task. If a property of `retry` or `rules` is set, it replaces the same setting of the session.
/// The constraints and the rate limit of the session always apply as well.
public struct Policy: Hashable, Sendable {
    /// When a failed attempt of the task is repeated.
    public var retry = RetryPolicy()
    /// Which responses the task accepts, and how long it waits for them.
    public var rules = TransferRules()
    /// What the task demands of the system.
    public var constraints = Constraints()
    /// The rate limit of this task, in both directions together. The session's limit also applies. `Session.setRate`
    /// changes the limit of the task. Nil or 0: no limit.
    public var bytesPerSecond: UInt64?

    /// Makes a policy that sets nothing.
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
