internal import BackhaulModel

/// The kinds of conditions to read. The request also has the levels of heat from the previous reading, because the new
/// levels depend on them.
struct ReadingRequest: Sendable {
    var needs: ConditionSet
    var heatLevels: [String: ThermalState] = [:]
}

/// A function that reads the system on a thread that may block. Tests replace it by a function that hangs.
typealias ReadSystem = @Sendable (ReadingRequest, ConditionRoots) -> SystemReadings

/// The readings of some kinds of conditions. The readings of other kinds are nil or missing.
struct SystemReadings: Sendable {
    /// The kinds that were read.
    var needs: ConditionSet
    var power: PowerState?
    var heat: HeatState?
    var pressure: [PressureResource: Reading<UInt8>] = [:]
    var network: NetworkState?

    static func read(_ order: ReadingRequest, in roots: ConditionRoots) -> SystemReadings {
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

    static func unknown(_ needs: ConditionSet, _ source: String) -> SystemReadings {
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

extension ConditionSet {
    /// The kinds of this set, each as a set of its own. Kinds that cannot hang come first.
    var kinds: [ConditionSet] {
        let all: [ConditionSet] = [.network, .cpuPressure, .ioPressure, .memoryPressure, .power, .heat]
        return all.filter { contains($0) }
    }
}
