/// What all sessions of a store may use together: `bh_limits` with its defaults filled in.
public struct EngineLimits: Equatable, Sendable {
    /// Nil: no limit.
    public var bytesPerSecond: UInt64?
    public var maximumRunningTasks: UInt32 = 256
    public var maximumConnections: UInt32 = 256
    /// The most connections of all sessions to one origin; nil: each session's own limit.
    public var connectionsPerOrigin: UInt32?

    public init() {}
}
