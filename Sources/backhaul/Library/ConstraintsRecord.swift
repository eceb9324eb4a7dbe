import CBackhaul

// Unsafe: a text is a batch's, which lives while it is copied, or an arena's, which lives as long as the struct.

/// What a session, or a transfer itself, demands of the conditions. 0 or nil where nothing is said.
struct ConstraintsRecord: Hashable {
    var preset: Int32 = 0
    var externalPower: Int32 = 0
    var unmetered: Int32 = 0
    var networks: UInt32 = 0
    var minimumBattery: UInt32 = 0
    var maximumHeat: Int32 = 0
    var cpuPressure: UInt32 = 0
    var ioPressure: UInt32 = 0
    var memoryPressure: UInt32 = 0
    var minimumRate: UInt64 = 0
    var quietHours: String?

    init() {}

    init(_ fields: bh_constraints) {
        preset = fields.preset
        externalPower = fields.requires_external_power
        unmetered = fields.requires_unmetered
        networks = fields.networks
        minimumBattery = fields.minimum_battery_percent
        maximumHeat = fields.maximum_thermal_state
        cpuPressure = fields.maximum_cpu_pressure_percent
        ioPressure = fields.maximum_io_pressure_percent
        memoryPressure = fields.maximum_memory_pressure_percent
        minimumRate = fields.minimum_bytes_per_second
        quietHours = text(fields.quiet_hours)
    }

    func fill(_ fields: inout bh_constraints, _ arena: CStringArena) {
        fields.preset = preset
        fields.requires_external_power = externalPower
        fields.requires_unmetered = unmetered
        fields.networks = networks
        fields.minimum_battery_percent = minimumBattery
        fields.maximum_thermal_state = maximumHeat
        fields.maximum_cpu_pressure_percent = cpuPressure
        fields.maximum_io_pressure_percent = ioPressure
        fields.maximum_memory_pressure_percent = memoryPressure
        fields.minimum_bytes_per_second = minimumRate
        fields.quiet_hours = quietHours.flatMap { arena.string(unlessEmpty: $0) }
    }

    func constraints(_ arena: CStringArena) -> bh_constraints {
        var constraints = bh_constraints()
        fill(&constraints, arena)
        return constraints
    }

    /// Null: nothing, or what the preset asks for.
    var json: JSON {
        func word(_ value: Int32, _ table: [(String, Int)]) -> JSON { value == 0 ? .null : .word(value, table) }
        return .record(of: bh_constraints.self, [
            ("preset", word(preset, Names.presets)), ("requires_external_power", .choice(externalPower)),
            ("requires_unmetered", .choice(unmetered)),
            ("networks", networks == 0 ? .null : .words(networks, Names.networks)),
            ("minimum_battery_percent", .number(unlessZero: minimumBattery)),
            ("maximum_thermal_state", word(maximumHeat, Names.heatLimits)),
            ("maximum_cpu_pressure_percent", .number(unlessZero: cpuPressure)),
            ("maximum_io_pressure_percent", .number(unlessZero: ioPressure)),
            ("maximum_memory_pressure_percent", .number(unlessZero: memoryPressure)),
            ("minimum_bytes_per_second", .number(unlessZero: minimumRate)), ("quiet_hours", .optional(quietHours)),
        ])
    }
}
