public import BackhaulModel

/// The readings of NetworkManager and logind. Each reading has a *source*, a text for users that names the service. If
/// a reading is unknown, its source states the reason.
public struct BusReadings: Sendable, Equatable {
    /// The network of the default route. Its name is the name of NetworkManager's connection.
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isPreparingForSleep = Reading<Bool>()
    /// Whether NetworkManager is on the bus. If so, NetworkManager may still report the readings that are unknown now.
    public var isNetworkManaged = false
    /// The conditions whose readings were requested from the services.
    public var requested: ConditionSet = []
    /// True when each service has replied, is known to be missing, or has not replied in time.
    public var isSettled = false

    public init() {}
}
