internal import BackhaulModel

extension Conditions {
    /// Combines the readings of several sources into the conditions, which are facts about the system, such as power.
    /// If the kernel has a route, the known readings of NetworkManager replace the kernel's readings. `metered` has the
    /// administrator's settings, which override the readings of all sources.
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
        if let bus { conditions.isPreparingForSleep = bus.isPreparingForSleep }
        guard let network else { return conditions }
        conditions.network = network.network
        conditions.isMetered = network.isMetered
        conditions.connectivity = network.connectivity
        guard network.connectivity.value != ConnectivityState.none else { return conditions }
        if let bus {
            conditions.network.combine(bus.network)
            conditions.isMetered.combine(bus.isMetered)
            var connectivity = bus.connectivity
            // The kernel knows all routes. NetworkManager knows only those of the interfaces that it manages.
            if network.network.value != nil, connectivity.value == ConnectivityState.none {
                connectivity = Reading(source: "\(connectivity.source) does not manage the default route")
            }
            conditions.connectivity.combine(connectivity)
        }
        if let name = conditions.network.value?.name, let isMetered = metered[name] {
            conditions.isMetered = Reading(isMetered, source: "configured")
        }
        return conditions
    }

    /// Copies the readings of the needed conditions from `other`.
    mutating func take(_ other: Conditions, _ needs: ConditionSet) {
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
        if needs.contains(.sleep) { isPreparingForSleep = other.isPreparingForSleep }
    }

    /// Whether all values are equal. Sources are not compared.
    func hasSameValues(as other: Conditions) -> Bool {
        externalPower.value == other.externalPower.value && batteryPercent.value == other.batteryPercent.value
            && thermalState.value == other.thermalState.value
            && cpuPressurePercent.value == other.cpuPressurePercent.value
            && ioPressurePercent.value == other.ioPressurePercent.value
            && memoryPressurePercent.value == other.memoryPressurePercent.value
            && network.value == other.network.value && isMetered.value == other.isMetered.value
            && connectivity.value == other.connectivity.value
            && isPreparingForSleep.value == other.isPreparingForSleep.value
    }
}

extension Reading {
    /// Takes the other reading if it has a value. If neither reading has a value, the source (the text that explains
    /// the reading) has both reasons.
    fileprivate mutating func combine(_ other: Reading) {
        if other.value != nil { self = other } else if value == nil { source += "; \(other.source)" }
    }
}
