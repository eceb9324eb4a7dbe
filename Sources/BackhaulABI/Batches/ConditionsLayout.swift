internal import BackhaulModel
internal import CBackhaul

// Unsafe: what the pointers of an item point to lies in its batch's arena, and lives as long.

extension bh_wait {
    init(_ wait: Wait, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_wait>.size
        reason = wait.reason.rawValue
        reason_text = arena.place(wait.sentence)
        began_ms = wait.beganMilliseconds
        ended_ms = wait.endedMilliseconds ?? 0
    }
}

extension bh_condition {
    init(_ condition: ConditionInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_condition>.size
        kind = condition.kind.rawValue
        is_known = condition.isKnown ? 1 : 0
        value = condition.value
        name = arena.place(condition.name)
        text = arena.place(condition.text)
        source = arena.place(condition.source)
        since_ms = condition.sinceMilliseconds
    }
}

extension bh_hold {
    init(_ info: HoldInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_hold>.size
        application = arena.place(info.application)
        session = arena.place(info.session)
        origin = arena.place(info.origin)
        reason = info.hold.reason.rawValue
        reason_text = arena.place(info.hold.sentence)
        began_ms = info.beganMilliseconds
        next_look_ms = info.hold.nextLookMilliseconds ?? 0
        tasks = info.tasks
    }
}

extension bh_network {
    init(_ info: NetworkInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_network>.size
        name = arena.place(info.settings.name)
        metered = info.settings.isMetered.map { Int32($0 ? BH_YES : BH_NO) } ?? Int32(BH_DEFAULT)
        month_starts_on = UInt32(info.settings.monthStartsOn)
        (daily_budget, monthly_budget) = info.settings.budget.fields
        kind = Int32(clamping: info.kind?.rawValue ?? 0)
        is_current = info.isCurrent ? 1 : 0
        used_today = info.usedToday
        used_this_month = info.usedThisMonth
        day_ends_ms = info.dayEndsMilliseconds
        month_ends_ms = info.monthEndsMilliseconds
    }
}

extension bh_activity {
    init(_ info: ActivityInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_activity>.size
        identifier = arena.place(info.identifier)
        interval_ms = info.intervalMilliseconds
        tolerance_ms = info.toleranceMilliseconds
        repeats = Int32(info.repeats ? BH_YES : BH_NO)
        quality_of_service = info.qualityOfService.rawValue
        next_ms = info.nextMilliseconds
        next_ends_ms = info.nextMilliseconds.addingWithoutOverflow(info.toleranceMilliseconds)
        last_started_ms = info.lastStartedMilliseconds ?? 0
        last_task = info.lastTask?.rawValue ?? 0
        url = arena.place(info.url)
    }
}

extension Int64 {
    fileprivate func addingWithoutOverflow(_ count: UInt64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(Int64(clamping: count))
        return overflow ? .max : sum
    }
}

extension ByteBudget {
    /// As `daily_budget` and `monthly_budget` have them.
    var fields: (daily: UInt64, monthly: UInt64) { (Self.field(daily), Self.field(monthly)) }

    private static func field(_ bytes: UInt64?) -> UInt64 {
        switch bytes {
        case nil: 0
        case 0: UInt64.max
        case let bytes?: bytes
        }
    }
}

extension ConstraintFields {
    /// As they were given: a preset stays one.
    mutating func set(_ constraints: Constraints, in arena: inout Arena) {
        preset = constraints.preset?.rawValue ?? 0
        requires_external_power = Self.choice(constraints.requiresExternalPower)
        requires_unmetered = Self.choice(constraints.requiresUnmetered)
        networks = constraints.networks?.rawValue ?? 0
        minimum_battery_percent = UInt32(constraints.minimumBatteryPercent ?? 0)
        maximum_thermal_state = constraints.maximumThermalState?.rawValue ?? 0
        maximum_cpu_pressure_percent = UInt32(constraints.maximumCPUPressurePercent ?? 0)
        maximum_io_pressure_percent = UInt32(constraints.maximumIOPressurePercent ?? 0)
        maximum_memory_pressure_percent = UInt32(constraints.maximumMemoryPressurePercent ?? 0)
        minimum_bytes_per_second = constraints.minimumBytesPerSecond ?? 0
        quiet_hours = arena.place(constraints.quietHours?.text)
    }

    private static func choice(_ value: Bool?) -> Int32 {
        value.map { Int32($0 ? BH_YES : BH_NO) } ?? Int32(BH_DEFAULT)
    }
}
