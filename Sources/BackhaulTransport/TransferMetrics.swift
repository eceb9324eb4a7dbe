/// What was measured of the last request of a transfer. Times are microseconds after its start, 0 when not reached.
public struct TransferMetrics: Equatable, Sendable {
    /// The server's address, or the proxy's.
    public var address: String?
    public var nameLookup: Int64 = 0
    public var connect: Int64 = 0
    public var tls: Int64 = 0
    public var firstByte: Int64 = 0
    public var total: Int64 = 0
    /// False when an open connection was used.
    public var madeConnection = false
    public var redirects = 0
    public init() {}
}
