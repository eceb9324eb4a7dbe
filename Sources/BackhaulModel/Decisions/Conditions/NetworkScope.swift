/// How far away an origin (scheme, host name and port of a URL) is, judged by its name only.
public enum NetworkScope: Hashable, Comparable, Sendable {
    /// The origin is this machine, and no condition of the network matters.
    case loopback
    /// The origin is on the local network, and is reached without the uplink, which is the route to the internet.
    case localNetwork
    case uplink

    public init(_ origin: Origin) {
        self =
            Connectivity.isLoopback(origin.server)
            ? .loopback : Connectivity.needsNoUplink(origin.server) ? .localNetwork : .uplink
    }
}
