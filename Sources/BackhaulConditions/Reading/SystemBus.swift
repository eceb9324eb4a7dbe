internal import BackhaulModel

/// The services on the system bus that report conditions, such as the network. Tests use a fake.
protocol SystemBus: Sendable {
    /// A descriptor that becomes readable when the first readings are available, and when a reading has changed. The
    /// descriptor stays readable until `takeReadings` is called.
    var number: Int32 { get }
    func takeReadings() -> BusReadings
    /// Sets the conditions to watch.
    func subscribe(_ subscriptions: ConditionSet)
    func readyToSleep()
    func close()
}

extension BusWatch: SystemBus {}

/// Starts a watch of the bus. Returns nil if no bus can be used.
typealias SystemBusFactory = (_ address: String?, _ subscriptions: ConditionSet) -> (any SystemBus)?

extension BusReadings {
    static func unknown(_ source: String) -> BusReadings {
        var readings = BusReadings()
        readings.network.source = source
        readings.isMetered.source = source
        readings.connectivity.source = source
        readings.isPreparingForSleep.source = source
        readings.requested = ConditionsWatch.busNeeds
        readings.isSettled = true
        return readings
    }
}
