public import BackhaulModel

/// The readings of NetworkManager and logind. The source of an unknown reading is the reason why it is unknown.
public struct BusReadings: Sendable, Equatable {
    /// The network of the default route, with the name of NetworkManager's connection.
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isPreparingForSleep = Reading<Bool>()
    /// Whether NetworkManager is on the bus. If so, it may still report readings that are unknown now.
    public var isNetworkManaged = false
    /// The conditions that were requested from the services.
    public var requested: ConditionSet = []
    /// Whether each service has replied, is known to be missing, or has taken too long.
    public var isSettled = false

    public init() {}
}
