import BackhaulModel

/// The table of decisions says for each *row* (constraints of a task, and facts about the system) whether the task must
/// wait. This type has the values for each column of the table, at and around the limits.
enum Column {
    static let flags: [Bool?] = [nil, true, false]
    static let presets: [ConstraintPreset?] = [nil, .discretionary, .overnight]
    static let charges: [UInt8?] = [nil, 0, 49, 50, 54, 55, 99, 100]
    static let minimums: [UInt8?] = [nil, 50, 98]
    static let heats: [ThermalState?] = [nil] + ThermalState.allCases
    static let hottest: [ThermalState?] = [nil, .nominal, .fair, .serious]
    static let pressures: [UInt8?] = [nil, 0, 3, 4, 5, 8, 9, 35, 36, 40, 41, 100]
    static let limits: [UInt8?] = [nil, 8, 40]
    static let kinds: [NetworkKinds?] = [nil, .ethernet, .wifi, .cellular, .bluetooth, .tunnel, .other]
    static let networks: [NetworkKinds?] = [nil, .wifi, [.ethernet, .wifi], .all.subtracting(.cellular), .cellular]
    static let connectivities: [ConnectivityState?] = [nil] + ConnectivityState.allCases
    static let hours: [QuietHours?] = [nil, DecisionOracle.quietNow, DecisionOracle.quietLater]
}

extension Situation {
    /// Returns a row of the table of decisions with a random value in every column.
    static func random(_ random: inout Random) -> Situation {
        func draw<Value>(_ values: [Value]) -> Value { values[random.number(0...(values.count - 1))] }
        func constraints() -> Constraints {
            Constraints(draw(Column.presets)) {
                $0.requiresExternalPower = draw(Column.flags)
                $0.requiresUnmetered = draw(Column.flags)
                $0.networks = draw(Column.networks)
                $0.minimumBatteryPercent = draw(Column.minimums)
                $0.maximumThermalState = draw(Column.hottest)
                $0.maximumCPUPressurePercent = draw(Column.limits)
                $0.maximumIOPressurePercent = draw(Column.limits)
                $0.maximumMemoryPressurePercent = draw(Column.limits)
                $0.quietHours = draw(Column.hours)
            }
        }
        return Situation {
            $0.session = constraints()
            $0.task = TaskConstraints(
                constraints(), isLaunched: random.once(in: 2), isPastLatestStart: random.once(in: 2))
            $0.conditions.externalPower = Reading(draw(Column.flags))
            $0.conditions.batteryPercent = Reading(draw(Column.charges))
            $0.conditions.thermalState = Reading(draw(Column.heats))
            $0.conditions.cpuPressurePercent = Reading(draw(Column.pressures))
            $0.conditions.ioPressurePercent = Reading(draw(Column.pressures))
            $0.conditions.memoryPressurePercent = Reading(draw(Column.pressures))
            $0.conditions.network = Reading(draw(Column.kinds).map { Network(name: "Net", kind: $0) })
            $0.conditions.isMetered = Reading(draw(Column.flags))
            $0.conditions.connectivity = Reading(draw(Column.connectivities))
            $0.conditions.isPreparingForSleep = Reading(draw(Column.flags))
            $0.isLocal = random.once(in: 4)
            $0.needsNoUplink = random.once(in: 4)
            $0.isUplinkProven = random.once(in: 4)
            if random.once(in: 2) { $0.held.insert(.battery) }
            if random.once(in: 2) { $0.held.insert(.pressure) }
            if random.once(in: 4) { $0.budgets = [.monthOfHotspot(used: draw([0, 5_000_000_000]))] }
        }
    }
}
