import CBackhaul

/// What transfers wait for: of `get`, `add` and `put` for what they hand over, of `configure` for all of the session,
/// of `constrain` for what was handed over. The word `default` takes any of them back.
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
        externalPower = try arguments.takesBack("external-power") ? 0 : arguments.yesOrNo("external-power")
        minimumBattery = try ConstraintOptions.percent("minimum-battery", arguments)
        unmetered = try arguments.takesBack("unmetered") ? 0 : arguments.yesOrNo("unmetered")
        networks = try ConstraintOptions.networks(arguments)
        minimumRate = try arguments.takesBack("minimum-rate") ? 0 : arguments.bytes("minimum-rate")
        maximumHeat =
            try arguments.takesBack("maximum-heat") ? 0 : arguments.choice("maximum-heat", Names.heatLimits)
        cpuPressure = try ConstraintOptions.percent("maximum-cpu-pressure", arguments)
        ioPressure = try ConstraintOptions.percent("maximum-io-pressure", arguments)
        memoryPressure = try ConstraintOptions.percent("maximum-memory-pressure", arguments)
        quietHours = arguments.takesBack("quiet-hours") ? "" : arguments.value("quiet-hours")
    }

    private static func preset(_ arguments: Arguments) throws(CommandError) -> Int32? {
        let given = ["discretionary", "overnight", "preset"].filter { arguments.has($0) }
        guard given.count <= 1 else { throw .usage("--\(given[0]) and --\(given[1]) exclude each other.") }
        if arguments.has("discretionary") { return Int32(BH_PRESET_DISCRETIONARY) }
        if arguments.has("overnight") { return Int32(BH_PRESET_OVERNIGHT) }
        return arguments.takesBack("preset") ? 0 : try arguments.choice("preset", Names.presets)
    }

    private static func networks(_ arguments: Arguments) throws(CommandError) -> UInt32? {
        if arguments.value("networks") == "all" || arguments.takesBack("networks") { return 0 }
        return try arguments.bits("networks", Names.networks)
    }

    private static func percent(_ name: String, _ arguments: Arguments) throws(CommandError) -> UInt32? {
        try arguments.takesBack(name) ? 0 : arguments.percent(name)
    }

    /// Leaves what was not given as it is.
    func change(_ constraints: inout ConstraintsRecord) {
        if let preset { constraints.preset = preset }
        if let externalPower { constraints.externalPower = externalPower }
        if let minimumBattery { constraints.minimumBattery = minimumBattery }
        if let unmetered { constraints.unmetered = unmetered }
        if let networks { constraints.networks = networks }
        if let minimumRate { constraints.minimumRate = minimumRate }
        if let maximumHeat { constraints.maximumHeat = maximumHeat }
        if let cpuPressure { constraints.cpuPressure = cpuPressure }
        if let ioPressure { constraints.ioPressure = ioPressure }
        if let memoryPressure { constraints.memoryPressure = memoryPressure }
        if let quietHours { constraints.quietHours = quietHours.isEmpty ? nil : quietHours }
    }

    func change(_ fields: inout bh_constraints, _ arena: CStringArena) {
        var constraints = ConstraintsRecord(fields)
        change(&constraints)
        constraints.fill(&fields, arena)
    }
}

extension Arguments {
    /// Whether the option says what it says when it is not given.
    fileprivate func takesBack(_ name: String) -> Bool { ["", "default"].contains(value(name)) }
}
