import CBackhaul

/// What transfers wait for: of `get`, `add` and `put` for what they hand over, of `configure` for all of the session.
struct ConstraintOptions {
    static let descriptions = [
        OptionDescription(
            "discretionary", nil, nil,
            "wait for external power, an unmetered network, a machine that is not hot, and 10 kB a second"),
        OptionDescription("overnight", nil, nil, "wait for the same, and for the time from 23:00 to 07:00"),
        OptionDescription("preset", nil, "discretionary|overnight|none", "the same in one option"),
        OptionDescription("external-power", nil, "yes|no", "wait while the machine runs on battery"),
        OptionDescription("minimum-battery", nil, "PERCENT", "on battery, wait while it has less; 0: no minimum"),
        OptionDescription("unmetered", nil, "yes|no", "wait while the network is metered"),
        OptionDescription(
            "networks", nil, "LIST", "wait for one of these: ethernet,wifi,cellular,bluetooth,tunnel,other; or all"),
        OptionDescription("minimum-rate", nil, "BYTES", "a second: with less, pause, and probe from time to time"),
        OptionDescription(
            "maximum-heat", nil, "nominal|fair|serious", "wait while the machine is hotter (serious)"),
        OptionDescription(
            "maximum-cpu-pressure", nil, "PERCENT", "wait while processes wait more for a processor; 0: no limit"),
        OptionDescription("maximum-io-pressure", nil, "PERCENT", "the same, for a disk"),
        OptionDescription("maximum-memory-pressure", nil, "PERCENT", "the same, for memory"),
        OptionDescription(
            "quiet-hours", nil, "HOURS", "wait in them: 22:00-06:30, or 'mon-fri 08:00-18:00, sat 10:00-14:00'"),
    ]

    private let preset: Int32?
    private let externalPower: Int32?
    private let minimumBattery: UInt32?
    private let unmetered: Int32?
    private let networks: UInt32?
    private let minimumRate: UInt64?
    private let maximumHeat: Int32?
    private let cpuPressure: UInt32?
    private let ioPressure: UInt32?
    private let memoryPressure: UInt32?
    private let quietHours: String?

    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        isGiven = ConstraintOptions.descriptions.contains { arguments.has($0.name) }
        preset = try ConstraintOptions.preset(arguments)
        externalPower = try arguments.yesOrNo("external-power")
        minimumBattery = try arguments.percent("minimum-battery")
        unmetered = try arguments.yesOrNo("unmetered")
        networks = try ConstraintOptions.networks(arguments)
        minimumRate = try arguments.bytes("minimum-rate")
        maximumHeat = arguments.value("maximum-heat") == "" ? 0 : try arguments.choice("maximum-heat", Names.heatLimits)
        cpuPressure = try arguments.percent("maximum-cpu-pressure")
        ioPressure = try arguments.percent("maximum-io-pressure")
        memoryPressure = try arguments.percent("maximum-memory-pressure")
        quietHours = arguments.value("quiet-hours")
    }

    private static func preset(_ arguments: Arguments) throws(CommandError) -> Int32? {
        let given = ["discretionary", "overnight", "preset"].filter { arguments.has($0) }
        guard given.count <= 1 else { throw .usage("--\(given[0]) and --\(given[1]) exclude each other.") }
        if arguments.has("discretionary") { return Int32(BH_PRESET_DISCRETIONARY) }
        if arguments.has("overnight") { return Int32(BH_PRESET_OVERNIGHT) }
        return arguments.value("preset") == "" ? 0 : try arguments.choice("preset", Names.presets)
    }

    private static func networks(_ arguments: Arguments) throws(CommandError) -> UInt32? {
        if ["all", ""].contains(arguments.value("networks")) { return 0 }
        return try arguments.bits("networks", Names.networks)
    }

    /// Of these and of nothing else.
    func policy(_ arena: CStringArena) -> bh_policy {
        var policy = bh_policy()
        policy.struct_size = MemoryLayout<bh_policy>.size
        change(&policy, arena)
        return policy
    }

    func change(_ policy: inout bh_policy, _ arena: CStringArena) {
        policy.preset = preset ?? 0
        policy.requires_external_power = externalPower ?? 0
        policy.minimum_battery_percent = minimumBattery ?? 0
        policy.requires_unmetered = unmetered ?? 0
        policy.networks = networks ?? 0
        policy.minimum_bytes_per_second = minimumRate ?? 0
        policy.maximum_thermal_state = maximumHeat ?? 0
        policy.maximum_cpu_pressure_percent = cpuPressure ?? 0
        policy.maximum_io_pressure_percent = ioPressure ?? 0
        policy.maximum_memory_pressure_percent = memoryPressure ?? 0
        policy.quiet_hours = quietHours.flatMap { arena.string(unlessEmpty: $0) }
    }

    /// Leaves what was not given as it is.
    func change(_ session: inout bh_session_configuration, _ arena: CStringArena) {
        if let preset { session.preset = preset }
        if let externalPower { session.requires_external_power = externalPower }
        if let minimumBattery { session.minimum_battery_percent = minimumBattery }
        if let unmetered { session.requires_unmetered = unmetered }
        if let networks { session.networks = networks }
        if let minimumRate { session.minimum_bytes_per_second = minimumRate }
        if let maximumHeat { session.maximum_thermal_state = maximumHeat }
        if let cpuPressure { session.maximum_cpu_pressure_percent = cpuPressure }
        if let ioPressure { session.maximum_io_pressure_percent = ioPressure }
        if let memoryPressure { session.maximum_memory_pressure_percent = memoryPressure }
        if let quietHours { session.quiet_hours = arena.string(unlessEmpty: quietHours) }
    }
}
