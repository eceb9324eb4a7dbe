import CBackhaul

/// What a session demands of the conditions, so that an explanation can say who asks for a wait.
struct SessionDemands: Equatable {
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
    var daily = Budget(0)
    var monthly = Budget(0)
    /// Bytes per second; 0: no limit.
    var rate: UInt64 = 0

    init() {}

    init(_ configuration: bh_session_configuration) {
        preset = configuration.preset
        externalPower = configuration.requires_external_power
        unmetered = configuration.requires_unmetered
        networks = configuration.networks
        minimumBattery = configuration.minimum_battery_percent
        maximumHeat = configuration.maximum_thermal_state
        cpuPressure = configuration.maximum_cpu_pressure_percent
        ioPressure = configuration.maximum_io_pressure_percent
        memoryPressure = configuration.maximum_memory_pressure_percent
        minimumRate = configuration.minimum_bytes_per_second
        quietHours = text(configuration.quiet_hours)
        daily = Budget(configuration.daily_budget)
        monthly = Budget(configuration.monthly_budget)
        rate = configuration.bytes_per_second
    }

    /// Who asks for the wait.
    enum Origin: Equatable {
        /// An option that is remembered with the session, as it was given.
        case option(String)
        /// The session's preset.
        case preset(String)
        /// The transfer itself, with one of these options. The library does not show what a transfer was given.
        case transfer(String)
        /// Nobody: it always holds.
        case always
    }

    /// Nil for reasons that nobody asks for.
    func origin(_ reason: Int32) -> Origin? {
        switch Int(reason) {
        case BH_REASON_POWER:
            wish(Int(externalPower) == BH_DEFAULT ? nil : Int(externalPower) == BH_YES, "--external-power yes")
        case BH_REASON_METERED: wish(Int(unmetered) == BH_DEFAULT ? nil : Int(unmetered) == BH_YES, "--unmetered yes")
        case BH_REASON_HEAT:
            maximumHeat != 0
                ? .option("--maximum-heat " + Names.word(maximumHeat, Names.heatLimits))
                : isDiscretionary ? .preset(presetWord) : .transfer("--maximum-heat")
        case BH_REASON_THROUGHPUT:
            minimumRate > 0
                ? .option("--minimum-rate \(minimumRate)")
                : isDiscretionary ? .preset(presetWord) : .transfer("--minimum-rate")
        case BH_REASON_QUIET_HOURS:
            if let quietHours {
                .option("--quiet-hours " + Text.quoted(quietHours))
            } else {
                Int(preset) == BH_PRESET_OVERNIGHT ? .preset(presetWord) : .transfer("--quiet-hours")
            }
        case BH_REASON_BATTERY:
            minimumBattery > 0 ? .option("--minimum-battery \(minimumBattery)") : .transfer("--minimum-battery")
        case BH_REASON_NETWORK:
            networks > 0
                ? .option("--networks " + Names.words(networks, Names.networks).joined(separator: ","))
                : .transfer("--networks")
        case BH_REASON_PRESSURE: SessionDemands.origin(of: pressures)
        case BH_REASON_EARLIEST_START: .transfer("--earliest-start")
        default: nil
        }
    }

    /// "the daily limit of session 'photos' is 0 B": of a wait for a budget that lets nothing be moved.
    func limitOfNothing(_ reason: Int32, _ facts: WaitFacts, session: String) -> String? {
        guard Int(reason) == BH_REASON_BUDGET else { return nil }
        let network = facts.network
        let name = Text.visible(network?.name ?? "")
        let limits = [
            (daily, "daily limit of session '\(Text.visible(session))'"),
            (monthly, "monthly limit of session '\(Text.visible(session))'"),
            (network?.daily ?? Budget(0), "daily limit of network '\(name)'"),
            (network?.monthly ?? Budget(0), "monthly limit of network '\(name)'"),
        ]
        return limits.first { $0.0.bytes == 0 }.map { "the \($0.1) is 0 B" }
    }

    /// What is asked for by an option, or where that says nothing by the preset.
    private func wish(_ given: Bool?, _ option: String) -> Origin {
        if given == true { return .option(option) }
        let name = String(option.prefix { $0 != " " })
        return given == nil && isDiscretionary ? .preset(presetWord) : .transfer(name)
    }

    static func origin(of pressures: [Pressure]) -> Origin {
        pressures.isEmpty
            ? .transfer("--maximum-cpu-pressure")
            : .option(pressures.map { "\($0.option) \($0.percent)" }.joined(separator: " "))
    }

    /// One that is limited.
    struct Pressure {
        let option: String
        let percent: UInt32
        let condition: Int

        init(_ option: String, _ percent: UInt32, _ condition: Int) {
            self.option = option
            self.percent = percent
            self.condition = condition
        }
    }

    var pressures: [Pressure] {
        [
            Pressure("--maximum-cpu-pressure", cpuPressure, BH_CONDITION_CPU_PRESSURE),
            Pressure("--maximum-io-pressure", ioPressure, BH_CONDITION_IO_PRESSURE),
            Pressure("--maximum-memory-pressure", memoryPressure, BH_CONDITION_MEMORY_PRESSURE),
        ].filter { $0.percent > 0 }
    }

    var isDiscretionary: Bool { preset != 0 }

    private var presetWord: String { Names.word(preset, Names.presets) }
}
