import BackhaulModel

/// A second, simple implementation of `DeferralDecision`. It returns the reasons why a task must wait. For example, the
/// task or its session demands external power, and the machine runs on battery. The two implementations share only
/// value types.
enum DecisionOracle {
    static func reasons(_ row: Situation) -> Set<WaitReason> {
        var reasons: Set<WaitReason> = []
        let conditions = row.conditions
        let onBattery = conditions.externalPower.value == false

        if onBattery, demands(row, { $0.requiresExternalPower }, preset: true) { reasons.insert(.power) }

        if onBattery, let charge = conditions.batteryPercent.value {
            for minimum in stated(row, { $0.minimumBatteryPercent }) {
                let goal = row.held.contains(.battery) ? min(100, Int(minimum) + 5) : Int(minimum)
                if Int(charge) < goal { reasons.insert(.battery) }
            }
        }

        if let heat = conditions.thermalState.value {
            if heat == .critical { reasons.insert(.heat) }
            let ofSession = level(row.session.maximumThermalState, row.session.preset, row) ?? .serious
            let ofTask = level(row.task.stated.maximumThermalState, taskPreset(row), row) ?? .serious
            if heat > ofSession || heat > ofTask { reasons.insert(.heat) }
        }

        let pressures: [(UInt8?, [UInt8])] = [
            (conditions.cpuPressurePercent.value, stated(row) { $0.maximumCPUPressurePercent }),
            (conditions.ioPressurePercent.value, stated(row) { $0.maximumIOPressurePercent }),
            (conditions.memoryPressurePercent.value, stated(row) { $0.maximumMemoryPressurePercent }),
        ]
        for (pressure, limits) in pressures {
            guard let pressure else { continue }
            for limit in limits {
                let released = limit > 10 ? limit - 5 : limit / 2
                if pressure > (row.held.contains(.pressure) ? released : limit) { reasons.insert(.pressure) }
            }
        }

        if conditions.isPreparingForSleep.value == true { reasons.insert(.sleep) }
        if isQuiet(row) { reasons.insert(.quietHours) }
        if row.isLocal { return reasons }

        if conditions.isMetered.value == true, demands(row, { $0.requiresUnmetered }, preset: true) {
            reasons.insert(.metered)
        }
        let wanted = stated(row) { $0.networks }
        if let kind = conditions.network.value?.kind, wanted.contains(where: { !$0.contains(kind) }) {
            reasons.insert(.network)
        }
        if wanted.count == 2, wanted[0].isDisjoint(with: wanted[1]) { reasons.insert(.network) }
        let uplinkFails = conditions.connectivity.value == .portal || conditions.connectivity.value == .limited
        if uplinkFails, !row.isUplinkProven, !row.needsNoUplink { reasons.insert(.portal) }
        if row.budgets.contains(where: { $0.used >= $0.limit }) { reasons.insert(.budget) }
        return reasons
    }

    /// Returns the *stated* values of a field: the values that were set in the session and in the task. The values of a
    /// *preset* are not included. Stated values also apply after the task's *latest start*, when presets no longer
    /// apply.
    private static func stated<Value>(_ row: Situation, _ field: (Constraints) -> Value?) -> [Value] {
        [field(row.session), field(row.task.stated)].compactMap(\.self)
    }

    private static func taskPreset(_ row: Situation) -> ConstraintPreset? {
        row.task.stated.preset ?? (row.task.isLaunched ? .discretionary : nil)
    }

    /// Whether the session or the task demands a condition. For each of the two, its stated field decides. If it does
    /// not state the field, its preset decides until the task's latest start.
    private static func demands(_ row: Situation, _ field: (Constraints) -> Bool?, preset asks: Bool) -> Bool {
        func one(_ stated: Bool?, _ preset: ConstraintPreset?) -> Bool {
            if let stated { return stated }
            return preset != nil && asks && !row.task.isPastLatestStart
        }
        return one(field(row.session), row.session.preset) || one(field(row.task.stated), taskPreset(row))
    }

    private static func level(_ stated: ThermalState?, _ preset: ConstraintPreset?, _ row: Situation) -> ThermalState? {
        if let stated { return stated }
        return preset != nil && !row.task.isPastLatestStart ? .fair : nil
    }

    /// Whether Friday 21:40, the time of all rows, is in the quiet hours of the session or the task.
    private static func isQuiet(_ row: Situation) -> Bool {
        func one(_ stated: QuietHours?, _ preset: ConstraintPreset?) -> Bool {
            if let stated { return stated == quietNow }
            return preset == .overnight && !row.task.isPastLatestStart
        }
        return one(row.session.quietHours, row.session.preset) || one(row.task.stated.quietHours, taskPreset(row))
    }

    static let quietNow = QuietHours(spans: [.init(begin: 21 * 60, end: 22 * 60)])
    static let quietLater = QuietHours(spans: [.init(begin: 22 * 60, end: 21 * 60)])
}
