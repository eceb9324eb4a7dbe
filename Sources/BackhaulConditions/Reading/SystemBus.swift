internal import BackhaulModel

/// What services on the system's message bus say. A test plays one.
protocol SystemBus: Sendable {
    /// Readable when there is something to take, the first readings included.
    var number: Int32 { get }
    func takeReadings() -> BusReadings
    /// Of these from now on.
    func want(_ wants: ConditionNeeds)
    func readyToSleep()
    func close()
}

extension BusWatch: SystemBus {}

/// Nil where there can be none.
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
