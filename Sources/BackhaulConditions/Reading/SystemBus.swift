internal import BackhaulModel

/// The services on the system bus. Tests use a fake.
protocol SystemBus: Sendable {
    /// Readable when there are readings to take. This includes the first ones.
    var number: Int32 { get }
    func takeReadings() -> BusReadings
    /// Changes the wanted needs.
    func subscribe(_ subscriptions: ConditionSet)
    func readyToSleep()
    func close()
}

extension BusWatch: SystemBus {}

/// Starts the bus. Returns nil if no bus can be used.
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
