public import BackhaulModel

/// What NetworkManager and logind say. Each that is not known says why in its source.
public struct BusReadings: Sendable, Equatable {
    /// Where the default route leads, by the name of NetworkManager's connection.
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isAboutToSleep = Reading<Bool>()
    /// NetworkManager is there: what it has not said yet it may say.
    public var isNetworkManaged = false
    /// What was asked for.
    public var asked: ConditionNeeds = []
    /// False until whoever was asked has answered, is known to be missing, or has taken too long.
    public var isSettled = false

    public init() {}
}
