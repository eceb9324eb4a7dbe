/// The limits for all sessions of a store together: `bh_limits` with its defaults filled in.
public struct EngineLimits: Equatable, Sendable {
    /// The rate limit of all transfers together; nil: no limit.
    public var bytesPerSecond: UInt64?
    public var maximumRunningTasks: UInt32 = 256
    public var maximumConnections: UInt32 = 256
    /// The most connections to one origin, of all sessions together; nil: only the limit of each session applies.
    public var connectionsPerOrigin: UInt32?

    public init() {}
}
