internal import BackhaulModel

/// The kinds to read, and the levels of heat on which the hysteresis depends.
struct ReadingOrder: Sendable {
    var needs: ConditionNeeds
    var heatLevels: [String: ThermalState] = [:]
}

/// A function that reads the system on a thread that may block. Tests use one that hangs.
typealias ReadSystem = @Sendable (ReadingOrder, ConditionRoots) -> SystemReadings

/// Readings of some kinds. The others are nil.
struct SystemReadings: Sendable {
    /// The kinds that were read.
    var needs: ConditionNeeds
    var power: PowerState?
    var heat: HeatState?
    var pressure: [PressureResource: Reading<UInt8>] = [:]
    var network: NetworkState?

    static func read(_ order: ReadingOrder, in roots: ConditionRoots) -> SystemReadings {
        let system = SystemTree(root: roots.system)
        let processes = SystemTree(root: roots.processes)
        var readings = SystemReadings(needs: order.needs)
        if order.needs.contains(.power) { readings.power = PowerState.read(system) }
        if order.needs.contains(.network) {
            readings.network = NetworkState.read(system: system, processes: processes)
        }
        for resource in PressureResource.allCases where order.needs.contains(resource.need) {
            readings.pressure[resource] = resource.read(processes)
        }
        if order.needs.contains(.heat) { readings.heat = HeatState.read(system, after: order.heatLevels) }
        return readings
    }

    /// Adds the readings of other kinds.
    mutating func add(_ other: SystemReadings) {
        needs.formUnion(other.needs)
        power = other.power ?? power
        heat = other.heat ?? heat
        network = other.network ?? network
        pressure.merge(other.pressure) { $1 }
    }

    static func unknown(_ needs: ConditionNeeds, _ source: String) -> SystemReadings {
        var readings = SystemReadings(needs: needs)
        if needs.contains(.power) { readings.power = PowerState(unknown: source) }
        if needs.contains(.heat) { readings.heat = HeatState(unknown: source) }
        if needs.contains(.network) { readings.network = NetworkState(unknown: source) }
        for resource in PressureResource.allCases where needs.contains(resource.need) {
            readings.pressure[resource] = Reading(source: source)
        }
        return readings
    }
}

extension ConditionNeeds {
    /// Each kind alone. Kinds that cannot hang come first.
    var kinds: [ConditionNeeds] {
        let all: [ConditionNeeds] = [.network, .cpuPressure, .ioPressure, .memoryPressure, .power, .heat]
        return all.filter { contains($0) }
    }
}
