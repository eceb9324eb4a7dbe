internal import BackhaulModel
internal import BackhaulPlatform

/// The machine's power source and charge, according to all of its power supplies.
struct PowerState: Equatable, Sendable {
    var externalPower = Reading<Bool>()
    var batteryPercent = Reading<UInt8>()

    /// Whether the machine runs on a battery whose charge is known. If so, the charge is polled, because many machines
    /// do not report each change of the charge.
    var isOnBattery: Bool { externalPower.value == false && batteryPercent.value != nil }

    static let folder = "class/power_supply"

    /// Reads all supplies. An unreadable supply does not affect the others.
    static func read(_ tree: SystemTree) -> PowerState {
        do {
            let supplies = try tree.entries(folder).compactMap { name in
                PowerSupply(name: name) { tree.optionalText("\(folder)/\(name)/\($0)") }
            }
            return PowerState(supplies, folder: tree.full(folder))
        } catch {
            return PowerState(unknown: error.description)
        }
    }

    init(unknown source: String) {
        externalPower.source = source
        batteryPercent.source = source
    }

    init(_ supplies: [PowerSupply], folder: String) {
        externalPower = PowerState.externalPower(supplies, folder)
        batteryPercent = PowerState.level(supplies, folder)
    }

    /// Returns whether the machine has external power. The first rule that applies decides. If a UPS is discharging,
    /// there is no external power. If mains or a port is online, there is external power. If mains is offline and there
    /// is a battery, there is no external power; without a battery, the machine has another supply. If a battery is
    /// discharging, there is no external power. If a port is offline, and there are batteries, but the status of each
    /// battery is unknown, there is no external power. In all other cases, an offline port does not count, because most
    /// ports are unused. If no rule applies, there is external power.
    private static func externalPower(_ supplies: [PowerSupply], _ folder: String) -> Reading<Bool> {
        func first(_ condition: (PowerSupply) -> Bool) -> String? {
            supplies.first(where: condition).map { "\(folder)/\($0.name)" }
        }
        if let source = first({ $0.kind == .uninterruptible && $0.isDischarging == true }) {
            return Reading(false, source: source)
        }
        let isLine: (PowerSupply) -> Bool = { $0.kind == .mains || $0.kind == .port }
        if let source = first({ isLine($0) && $0.isOnline == true }) { return Reading(true, source: source) }
        let batteries = supplies.filter { $0.kind == .battery }
        if !batteries.isEmpty, let source = first({ $0.kind == .mains && $0.isOnline == false }) {
            return Reading(false, source: source)
        }
        if let source = first({ $0.kind == .battery && $0.isDischarging == true }) {
            return Reading(false, source: source)
        }
        if !batteries.isEmpty, batteries.allSatisfy({ $0.isDischarging == nil }),
            let source = first({ $0.kind == .port && $0.isOnline == false })
        {
            return Reading(false, source: source)
        }
        if let source = first({ $0.kind == .battery }) ?? first({ $0.kind == .uninterruptible }) {
            return Reading(true, source: source)
        }
        return Reading(true, source: "no battery that is in use in \(folder)")
    }

    /// The mean charge of the batteries, weighted by their full capacity if all capacities are known. A UPS counts only
    /// if no battery of the machine reports its charge.
    private static func level(_ supplies: [PowerSupply], _ folder: String) -> Reading<UInt8> {
        let own = supplies.filter { $0.kind == .battery && $0.percent != nil }
        let batteries = own.isEmpty ? supplies.filter { $0.kind == .uninterruptible && $0.percent != nil } : own
        guard let first = batteries.first else {
            let has = supplies.contains { $0.kind == .battery || $0.kind == .uninterruptible }
            return Reading(source: has ? "no battery in \(folder) reports its charge" : "no battery in \(folder)")
        }
        func weighted(_ weight: (PowerSupply) -> Double?) -> Double? {
            var sum = 0.0
            var total = 0.0
            for battery in batteries {
                guard let weight = weight(battery), let percent = battery.percent else { return nil }
                sum += Double(percent) * weight
                total += weight
            }
            return sum / total
        }
        let mean = weighted(\.fullEnergy) ?? weighted(\.fullCharge) ?? weighted { _ in 1 } ?? 0
        let names = batteries.count == 1 ? first.name : "{\(batteries.map(\.name).joined(separator: ","))}"
        return Reading(UInt8(max(0, min(mean, 100))), source: "\(folder)/\(names)")
    }
}
