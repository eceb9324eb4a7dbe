import CBackhaul

/// Finds the constraint (the demand on the system) that causes a wait, so that an explanation can name the constraint.
/// A *preset* is a name for several constraints.
extension ConstraintsRecord {
    enum Origin: Equatable {
        /// An option and its value.
        case option(String)
        case preset(String)

        var text: String {
            switch self {
            case .option(let text): text
            case .preset(let name): "--preset \(name)"
            }
        }
    }

    /// The option or preset that causes a wait for this reason. Nil if none of these constraints causes the wait.
    func origin(_ reason: Int32, _ facts: WaitFacts) -> Origin? {
        switch Int(reason) {
        case BH_REASON_POWER: optionOrPreset(Int(externalPower), "--external-power yes")
        case BH_REASON_METERED: optionOrPreset(Int(unmetered), "--unmetered yes")
        case BH_REASON_HEAT:
            maximumHeat != 0 ? .option("--maximum-heat " + Names.word(maximumHeat, Names.heatLimits)) : presetOrigin
        case BH_REASON_THROUGHPUT: minimumRate > 0 ? .option("--minimum-rate \(minimumRate)") : presetOrigin
        case BH_REASON_QUIET_HOURS:
            if let quietHours {
                .option("--quiet-hours " + Text.quoted(quietHours))
            } else {
                Int(preset) == BH_PRESET_OVERNIGHT ? presetOrigin : nil
            }
        case BH_REASON_BATTERY: minimumBattery > 0 ? .option("--minimum-battery \(minimumBattery)") : nil
        case BH_REASON_NETWORK:
            networks > 0
                ? .option("--networks " + Names.words(networks, Names.networks).joined(separator: ",")) : nil
        case BH_REASON_PRESSURE:
            pressures.isEmpty
                ? nil
                : .option(facts.exceeded(pressures).map { "\($0.option) \($0.percent)" }.joined(separator: " "))
        default: nil
        }
    }

    /// The origin of a constraint whose option takes "yes" or "no". With "yes", the origin is the option. With "no",
    /// the result is nil. If the option is not set, the origin is the preset.
    private func optionOrPreset(_ given: Int, _ option: String) -> Origin? {
        switch given {
        case BH_YES: .option(option)
        case BH_NO: nil
        default: presetOrigin
        }
    }

    private var presetOrigin: Origin? { preset == 0 ? nil : .preset(Names.word(preset, Names.presets)) }

    /// A limit of one kind of pressure.
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
}
