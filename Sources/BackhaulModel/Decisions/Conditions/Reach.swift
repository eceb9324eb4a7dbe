/// How far the way to an origin leads, as far as its name tells.
public enum Reach: Hashable, Sendable {
    /// Nothing about the network concerns it.
    case thisMachine
    /// No uplink is needed.
    case localNetwork
    case uplink

    public init(_ origin: Origin) {
        self =
            Connectivity.isLoopback(origin.server)
            ? .thisMachine : Connectivity.needsNoUplink(origin.server) ? .localNetwork : .uplink
    }
}
