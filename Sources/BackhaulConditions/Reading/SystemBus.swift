internal import BackhaulModel

/// The services on the system bus. Tests use a fake.
protocol SystemBus: Sendable {
    /// Readable when there are readings to take. This includes the first ones.
    var number: Int32 { get }
    func takeReadings() -> BusReadings
    /// Changes the wanted needs.
    func want(_ wants: ConditionNeeds)
    func readyToSleep()
    func close()
}

extension BusWatch: SystemBus {}

/// Starts the bus. Returns nil if no bus can be used.
typealias SystemBusStart = (_ address: String?, _ wants: ConditionNeeds) -> (any SystemBus)?

extension BusReadings {
    static func unknown(_ source: String) -> BusReadings {
        var readings = BusReadings()
        readings.network.source = source
        readings.isMetered.source = source
        readings.connectivity.source = source
        readings.isAboutToSleep.source = source
        readings.asked = ConditionsWatch.busNeeds
        readings.isSettled = true
        return readings
    }
}
