internal import BackhaulModel

/// What is to be read, and what reading it again goes on from.
struct ReadingOrder: Sendable {
    var needs: ConditionNeeds
    var heatLevels: [String: ThermalState] = [:]
}

/// How the system is read, on a thread that may wait. A test has one that hangs.
typealias ReadSystem = @Sendable (ReadingOrder, ConditionRoots) -> SystemReadings

/// What was read: nil for what was not asked for.
struct SystemReadings: Sendable {
    /// Of these.
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

    /// Of others.
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
    /// Each by itself: what waits for no wire comes first.
    var kinds: [ConditionNeeds] {
        let all: [ConditionNeeds] = [.network, .cpuPressure, .ioPressure, .memoryPressure, .power, .heat]
        return all.filter { contains($0) }
    }
}
