import Backhaul

extension Constraints {
    /// All constraints, in the order of the C header.
    static let settings: [ConstraintSetting] = [
        .preset(
            "preset", \.preset,
            OptionDescription(
                "preset", nil, "discretionary|overnight|none", "the same in one option")),
        .choice(
            "requires_external_power", \.requiresExternalPower,
            OptionDescription("external-power", nil, "yes|no", "wait while the machine runs on battery")),
        .choice(
            "requires_unmetered", \.requiresUnmetered,
            OptionDescription("unmetered", nil, "yes|no", "wait while the network is metered")),
        .set(
            "networks", \.networks,
            OptionDescription(
                "networks", nil, "LIST",
                "wait for one of these: ethernet,wifi,cellular,bluetooth,tunnel,other; or all")),
        .percent(
            "minimum_battery_percent", \.minimumBatteryPercent,
            OptionDescription("minimum-battery", nil, "PERCENT", "on battery, wait while it has less; 0: no minimum")),
        .word(
            "maximum_thermal_state", \.maximumThermalState,
            OptionDescription(
                "maximum-heat", nil, "nominal|fair|serious", "wait while the machine is hotter (serious)")),
        .percent(
            "maximum_cpu_pressure_percent", \.maximumCPUPressurePercent,
            OptionDescription(
                "maximum-cpu-pressure", nil, "PERCENT", "wait while processes wait more for a processor; 0: no limit")),
        .percent(
            "maximum_io_pressure_percent", \.maximumIOPressurePercent,
            OptionDescription("maximum-io-pressure", nil, "PERCENT", "the same, for a disk")),
        .percent(
            "maximum_memory_pressure_percent", \.maximumMemoryPressurePercent,
            OptionDescription("maximum-memory-pressure", nil, "PERCENT", "the same, for memory")),
        .bytes(
            "minimum_bytes_per_second", \.minimumBytesPerSecond,
            OptionDescription(
                "minimum-rate", nil, "BYTES",
                "per second: pause slower transfers, and test the rate from time to time")),
        .text(
            "quiet_hours", \.quietHours,
            OptionDescription(
                "quiet-hours", nil, "HOURS",
                "wait in these hours: 22:00-06:30, or 'mon-fri 08:00-18:00, sat 10:00-14:00'")),
    ]

    /// The constraints as JSON. A constraint that is not set is null. Then the preset decides.
    var json: JSON { .record("bh_constraints", Constraints.settings.map { ($0.field, $0.json(self)) }) }
}
