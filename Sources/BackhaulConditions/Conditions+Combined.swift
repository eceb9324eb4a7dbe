internal import BackhaulModel

extension Conditions {
    /// One answer from several sources. A service that manages the network knows more of it than the kernel, but not
    /// whether there is a route; the administrator has the last word.
    static func combined(
        power: PowerState?, heat: HeatState?, pressure: [PressureResource: Reading<UInt8>], network: NetworkState?,
        bus: BusReadings?, metered: [String: Bool]
    ) -> Conditions {
        var conditions = Conditions()
        if let power {
            conditions.externalPower = power.externalPower
            conditions.batteryPercent = power.batteryPercent
        }
        if let heat {
            conditions.thermalState = heat.thermalState
            conditions.hottestSensor = heat.hottestSensor
        }
        conditions.cpuPressurePercent = pressure[.cpu] ?? Reading()
        conditions.ioPressurePercent = pressure[.io] ?? Reading()
        conditions.memoryPressurePercent = pressure[.memory] ?? Reading()
        if let bus { conditions.isAboutToSleep = bus.isAboutToSleep }
        guard let network else { return conditions }
        conditions.network = network.network
        conditions.isMetered = network.isMetered
        conditions.connectivity = network.connectivity
        guard network.connectivity.value != ConnectivityState.none else { return conditions }
        if let bus {
            conditions.network.prefer(bus.network)
            conditions.isMetered.prefer(bus.isMetered)
            conditions.connectivity.prefer(bus.connectivity)
        }
        if let name = conditions.network.value?.name, let answer = metered[name] {
            conditions.isMetered = Reading(answer, source: "configured")
        }
        return conditions
    }

    /// Takes over what is another's to say.
    mutating func take(_ other: Conditions, _ needs: ConditionNeeds) {
        if needs.contains(.power) {
            externalPower = other.externalPower
            batteryPercent = other.batteryPercent
        }
        if needs.contains(.heat) {
            thermalState = other.thermalState
            hottestSensor = other.hottestSensor
        }
        if needs.contains(.cpuPressure) { cpuPressurePercent = other.cpuPressurePercent }
        if needs.contains(.ioPressure) { ioPressurePercent = other.ioPressurePercent }
        if needs.contains(.memoryPressure) { memoryPressurePercent = other.memoryPressurePercent }
        if needs.contains(.network) {
            network = other.network
            isMetered = other.isMetered
            connectivity = other.connectivity
        }
        if needs.contains(.sleep) { isAboutToSleep = other.isAboutToSleep }
    }

    /// Wherever they were read.
    func hasSameValues(as other: Conditions) -> Bool {
        externalPower.value == other.externalPower.value && batteryPercent.value == other.batteryPercent.value
            && thermalState.value == other.thermalState.value
            && cpuPressurePercent.value == other.cpuPressurePercent.value
            && ioPressurePercent.value == other.ioPressurePercent.value
            && memoryPressurePercent.value == other.memoryPressurePercent.value
            && network.value == other.network.value && isMetered.value == other.isMetered.value
            && connectivity.value == other.connectivity.value && isAboutToSleep.value == other.isAboutToSleep.value
    }
}

extension Reading {
    /// Of two that are not known, both say why.
    fileprivate mutating func prefer(_ other: Reading) {
        if other.value != nil { self = other } else if value == nil { source += "; \(other.source)" }
    }
}
