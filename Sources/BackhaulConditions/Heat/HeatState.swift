internal import BackhaulModel
internal import BackhaulPlatform

/// How hot the machine is. The thermal zone with the highest level decides. If several zones have this level, the
/// hottest one decides. If the level is nominal but a cooling device slows the machine down, the state is fair.
struct HeatState: Equatable, Sendable {
    var thermalState = Reading<ThermalState>()
    var hottestSensor: HottestSensor?
    /// The level of each zone. The next reading needs these levels, because a zone leaves a level at a lower
    /// temperature than the one at which it reached the level.
    var levels: [String: ThermalState] = [:]
    /// Whether the machine has thermal zones. Their temperatures are polled, because the kernel does not report that a
    /// zone gets hotter.
    var hasZones: Bool { !levels.isEmpty }

    static let folder = "class/thermal"

    static func read(_ tree: SystemTree, after before: [String: ThermalState]) -> HeatState {
        func attribute(_ name: String) -> (String) -> String? {
            { tree.optionalText("\(folder)/\(name)/\($0)") }
        }
        do {
            let zones = try tree.entries(folder) { $0.hasPrefix("thermal_zone") }.compactMap { name in
                let trips = tripNumbers((try? tree.entries("\(folder)/\(name)")) ?? [])
                return ThermalZone(name: name, tripNumbers: trips, attribute: attribute(name))
            }
            let devices = try tree.entries(folder) { $0.hasPrefix("cooling_device") }.compactMap { name in
                CoolingDevice(name: name, attribute: attribute(name))
            }
            return HeatState(zones, devices, folder: tree.full(folder), after: before)
        } catch {
            return HeatState(unknown: error.description)
        }
    }

    init(unknown source: String) { thermalState.source = source }

    init(
        _ zones: [ThermalZone], _ devices: [CoolingDevice], folder: String, after before: [String: ThermalState] = [:]
    ) {
        for zone in zones { levels[zone.name] = zone.level(after: before[zone.name] ?? .nominal) }
        let hottest = zones.max { left, right in
            (levels[left.name] ?? .nominal, left.temperature) < (levels[right.name] ?? .nominal, right.temperature)
        }
        let limiter = devices.first(where: \.isLimiting)
        if let limiter, hottest.flatMap({ levels[$0.name] }) ?? .nominal < .fair {
            thermalState = Reading(.fair, source: "\(folder)/\(limiter.name) (\(limiter.type))")
        } else if let hottest {
            let degrees = "\(hottest.temperature / 1_000) degrees"
            let detail = hottest.type.isEmpty ? degrees : "\(hottest.type), \(degrees)"
            thermalState = Reading(levels[hottest.name], source: "\(folder)/\(hottest.name) (\(detail))")
            hottestSensor = hottest.sensor
        } else {
            thermalState = Reading(source: "no thermal zone with a plausible temperature in \(folder)")
        }
    }

    /// The numbers in names such as trip_point_3_type.
    static func tripNumbers(_ names: [String]) -> [Int] {
        names.compactMap { name in
            guard name.hasPrefix("trip_point_"), name.hasSuffix("_type") else { return nil }
            return Int(name.dropFirst("trip_point_".count).dropLast("_type".count))
        }
    }
}
