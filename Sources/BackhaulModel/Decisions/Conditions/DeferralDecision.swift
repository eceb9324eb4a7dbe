/// Decides whether tasks may run now, and if not, why. Tasks that may not run are *held*, and the reason is a *hold*.
///
/// A condition that cannot be read holds no task. `ConditionsFilter` has already applied hysteresis to the conditions.
/// This type only adds the margins that depend on a constraint. If tasks are held because of the battery, they continue
/// when the charge is five percentage points above the minimum. If tasks are held because of pressure, they continue
/// when the pressure is five points below the limit.
public enum DeferralDecision {
    /// Held tasks continue when the charge of the battery is this number of percentage points above the minimum.
    static let batteryMargin: UInt8 = 5
    /// Held tasks continue when the pressure is this number of percentage points below the limit.
    static let pressureMargin: UInt8 = 5

    /// All reasons for which the tasks are held; empty if they may run. The first reason is the one that matters most
    /// to a user: it lasts longest, or only the user can change it. These are the reasons in their order, with their
    /// usual durations:
    ///
    /// 1. constraints of session and task that exclude each other: for ever
    /// 2. budgets and quiet hours; the reason with the latest end comes first
    /// 3. external power, battery: until external power is connected
    /// 4. kind of network, metered: until there is another network
    /// 5. a portal (the network demands a login), or a dead uplink (there is no route to the internet)
    /// 6. heat, pressure: minutes
    /// 7. sleep
    public static func holds(
        _ constraints: EffectiveConstraints, _ conditions: Conditions, _ facts: DeferralFacts
    ) -> [Hold] {
        let messages = HoldMessages(conditions, facts)
        var holds: [Hold] = []
        if constraints.networks.isEmpty, !facts.isLocal { holds.append(messages.excludedNetworks) }
        holds += timed(constraints, facts, messages)
        holds += power(constraints, conditions, facts, messages)
        if !facts.isLocal { holds += network(constraints, conditions, facts, messages) }
        if let heat = conditions.thermalState.value, heat > min(constraints.maximumThermalState, .serious) {
            holds.append(messages.heat(heat, maximum: constraints.maximumThermalState))
        }
        holds += pressure(constraints, conditions, facts, messages)
        if conditions.isPreparingForSleep.value == true { holds.append(messages.sleep) }
        return holds
    }

    /// The next time at which `holds` may change although no condition changes, in Unix milliseconds; nil if there is
    /// no such time. It is the next begin or end of quiet hours, or the end of a budget's day or month.
    public static func nextChange(_ constraints: EffectiveConstraints, _ facts: DeferralFacts) -> Int64? {
        let hours = constraints.quietHours?.state(
            at: facts.now, localOffsetMilliseconds: facts.localOffsetMilliseconds
        ).changes
        let periods = facts.isLocal ? [] : facts.budgets.map(\.period.endMilliseconds).filter { $0 > facts.now }
        return (periods + [hours].compactMap(\.self)).min()
    }

    /// The hold of a single task that will move `expected` bytes; nil if these bytes fit into all budgets.
    public static func fits(_ expected: UInt64?, _ budgets: [BudgetUsage]) -> Hold? {
        let tooSmall = budgets.filter { $0.isUsedUp || $0.left < expected ?? 0 }
        // If a budget is too small even while none of its bytes are used, the hold names this budget. Otherwise the
        // hold names the budget whose period ends last.
        let hopeless = tooSmall.first { $0.neverFits(expected) }
        let longest = tooSmall.max { $0.period.endMilliseconds < $1.period.endMilliseconds }
        guard let budget = hopeless ?? longest else { return nil }
        return budget.hold(expected: budget.isUsedUp ? nil : expected)
    }

    /// The bytes that the host expects a task to move, for `fits`. Nil if the host has stated no number. Also nil if a
    /// part of the file has already been transferred. Such a task need not fit into the budget of one period: it
    /// continues in each period until the budget is used up.
    public static func stated(received: UInt64?, sent: UInt64?, offset: UInt64) -> UInt64? {
        guard received != nil || sent != nil, offset == 0 else { return nil }
        return (received ?? 0).saturatingAdd(sent ?? 0)
    }

    private static func timed(
        _ constraints: EffectiveConstraints, _ facts: DeferralFacts, _ messages: HoldMessages
    ) -> [Hold] {
        var holds: [Hold] = []
        if let hours = constraints.quietHours {
            let state = hours.state(at: facts.now, localOffsetMilliseconds: facts.localOffsetMilliseconds)
            if state.isQuiet {
                let begin = hours.begin(before: facts.now, localOffsetMilliseconds: facts.localOffsetMilliseconds)
                holds.append(messages.quietHours(from: begin, until: state.changes))
            }
        }
        if !facts.isLocal { holds += facts.budgets.filter(\.isUsedUp).map { $0.hold(expected: nil) } }
        return holds.enumerated().sorted { one, other in
            let first = one.element.nextCheckMilliseconds ?? .max
            let second = other.element.nextCheckMilliseconds ?? .max
            return first != second ? first > second : one.offset < other.offset
        }.map(\.element)
    }

    private static func power(
        _ constraints: EffectiveConstraints, _ conditions: Conditions, _ facts: DeferralFacts,
        _ messages: HoldMessages
    ) -> [Hold] {
        guard conditions.externalPower.value == false else { return [] }
        var holds: [Hold] = []
        if constraints.requiresExternalPower { holds.append(messages.power) }
        if let minimum = constraints.minimumBatteryPercent, let charge = conditions.batteryPercent.value {
            let wanted = facts.held.contains(.battery) ? max(minimum, min(minimum, 95) + batteryMargin) : minimum
            if charge < min(wanted, 100) { holds.append(messages.battery(charge, wanted: min(wanted, 100))) }
        }
        return holds
    }

    private static func network(
        _ constraints: EffectiveConstraints, _ conditions: Conditions, _ facts: DeferralFacts,
        _ messages: HoldMessages
    ) -> [Hold] {
        var holds: [Hold] = []
        if let network = conditions.network.value, !network.kind.isEmpty, !constraints.networks.isEmpty,
            constraints.networks.isDisjoint(with: network.kind)
        {
            holds.append(messages.kind(network, wanted: constraints.networks))
        }
        if constraints.requiresUnmetered, conditions.isMetered.value == true { holds.append(messages.metered) }
        if let state = conditions.connectivity.value, !facts.isUplinkProven, !facts.needsNoUplink {
            switch state {
            case .portal: holds.append(messages.portal)
            case .limited: holds.append(messages.limited)
            case .none, .full: break
            }
        }
        return holds
    }

    private static func pressure(
        _ constraints: EffectiveConstraints, _ conditions: Conditions, _ facts: DeferralFacts,
        _ messages: HoldMessages
    ) -> [Hold] {
        let pressures: [(Reading<UInt8>, UInt8?, HoldMessages.PressuredResource)] = [
            (conditions.cpuPressurePercent, constraints.maximumCPUPressurePercent, .processors),
            (conditions.ioPressurePercent, constraints.maximumIOPressurePercent, .disks),
            (conditions.memoryPressurePercent, constraints.maximumMemoryPressurePercent, .memory),
        ]
        return pressures.compactMap { reading, limit, what in
            guard let limit, let value = reading.value else { return nil }
            // Held tasks continue at the pressure `lower`. For a limit of ten or less, `lower` is half of the limit.
            // If the margin of five points were subtracted, almost no pressure would be low enough.
            let lower = limit > pressureMargin * 2 ? limit - pressureMargin : limit / 2
            let wanted = facts.held.contains(.pressure) ? lower : limit
            return value > wanted ? messages.pressure(reading, value, limit: limit, lower: lower, of: what) : nil
        }
    }
}
