public import BackhaulModel

/// The readings of NetworkManager and logind. An unknown reading has the reason as its source.
public struct BusReadings: Sendable, Equatable {
    /// The network of the default route, with the name of NetworkManager's connection.
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isAboutToSleep = Reading<Bool>()
    /// Whether NetworkManager is on the bus, and may still report what is missing.
    public var isNetworkManaged = false
    /// The needs that were requested.
    public var asked: ConditionNeeds = []
    /// Whether each service has replied, is known to be missing, or has taken too long.
    public var isSettled = false

    public init() {}
}
