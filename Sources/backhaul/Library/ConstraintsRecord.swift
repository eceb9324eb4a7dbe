import CBackhaul

/// The constraints (demands on the system, such as external power) of a transfer, or of a session (a named collection
/// of transfers). 0 or nil means that a constraint is not set.
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

    /// All constraints, in the order of the C header.
    static let settings: [ConstraintSetting] = [
        .word(
            "preset", \.preset, \.preset,
            OptionDescription(
                "preset", nil, "discretionary|overnight|none", "the same in one option"),
            Names.presets, given: ConstraintOptions.preset),
        .choice(
            "requires_external_power", \.requires_external_power, \.externalPower,
            OptionDescription("external-power", nil, "yes|no", "wait while the machine runs on battery")),
        .choice(
            "requires_unmetered", \.requires_unmetered, \.unmetered,
            OptionDescription("unmetered", nil, "yes|no", "wait while the network is metered")),
        .bits(
            "networks", \.networks, \.networks,
            OptionDescription(
                "networks", nil, "LIST",
                "wait for one of these: ethernet,wifi,cellular,bluetooth,tunnel,other; or all"),
            Names.networks),
        .percent(
            "minimum_battery_percent", \.minimum_battery_percent, \.minimumBattery,
            OptionDescription("minimum-battery", nil, "PERCENT", "on battery, wait while it has less; 0: no minimum")),
        .word(
            "maximum_thermal_state", \.maximum_thermal_state, \.maximumHeat,
            OptionDescription(
                "maximum-heat", nil, "nominal|fair|serious", "wait while the machine is hotter (serious)"),
            Names.heatLimits),
        .percent(
            "maximum_cpu_pressure_percent", \.maximum_cpu_pressure_percent, \.cpuPressure,
            OptionDescription(
                "maximum-cpu-pressure", nil, "PERCENT", "wait while processes wait more for a processor; 0: no limit")),
        .percent(
            "maximum_io_pressure_percent", \.maximum_io_pressure_percent, \.ioPressure,
            OptionDescription("maximum-io-pressure", nil, "PERCENT", "the same, for a disk")),
        .percent(
            "maximum_memory_pressure_percent", \.maximum_memory_pressure_percent, \.memoryPressure,
            OptionDescription("maximum-memory-pressure", nil, "PERCENT", "the same, for memory")),
        .bytes(
            "minimum_bytes_per_second", \.minimum_bytes_per_second, \.minimumRate,
            OptionDescription(
                "minimum-rate", nil, "BYTES",
                "per second: pause slower transfers, and test the rate from time to time")),
        .text(
            "quiet_hours", \.quiet_hours, \.quietHours,
            OptionDescription(
                "quiet-hours", nil, "HOURS",
                "wait in these hours: 22:00-06:30, or 'mon-fri 08:00-18:00, sat 10:00-14:00'")),
    ]

    init() {}

    init(_ fields: bh_constraints) {
        for setting in ConstraintsRecord.settings { setting.read(fields, &self) }
    }

    func constraints(_ arena: CStringArena) -> bh_constraints {
        var constraints = bh_constraints()
        fill(&constraints, arena)
        return constraints
    }

    func fill(_ fields: inout bh_constraints, _ arena: CStringArena) {
        for setting in ConstraintsRecord.settings { setting.write(self, &fields, arena) }
    }

    /// The constraints as JSON. A constraint that is not set is null. Then the preset (a name for several constraints)
    /// decides.
    var json: JSON { .record(of: bh_constraints.self, ConstraintsRecord.settings.map { ($0.field, $0.json(self)) }) }
}
