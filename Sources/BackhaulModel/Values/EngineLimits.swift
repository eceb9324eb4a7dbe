/// The limits for all transfers of a store together: `bh_limits` with its defaults filled in. A *store* is the
/// directory with the data of the *sessions*, which are named collections of transfers.
public struct EngineLimits: Equatable, Sendable {
    /// The rate limit of all transfers together; nil: no limit.
    public var bytesPerSecond: UInt64?
    public var maximumRunningTasks: UInt32 = 256
    public var maximumConnections: UInt32 = 256
    /// The maximum number of connections to one origin (scheme, host name and port), for all sessions together; nil:
    /// only each session's own limit applies.
    public var connectionsPerOrigin: UInt32?

    public init() {}
}
