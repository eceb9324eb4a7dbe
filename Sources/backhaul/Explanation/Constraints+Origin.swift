import Backhaul

/// Finds the constraint that causes a wait, so that an explanation can name the constraint. A *preset* is a name for
/// several constraints.
extension Constraints {
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
    func origin(_ reason: Reason?, _ facts: WaitFacts) -> Origin? {
        switch reason {
        case .power: optionOrPreset(requiresExternalPower, "--external-power yes")
        case .metered: optionOrPreset(requiresUnmetered, "--unmetered yes")
        case .heat:
            maximumThermalState.map { .option("--maximum-heat " + $0.word) } ?? presetOrigin
        case .throughput: minimumBytesPerSecond.map { .option("--minimum-rate \($0)") } ?? presetOrigin
        case .quietHours:
            if let quietHours {
                .option("--quiet-hours " + Text.quoted(quietHours))
            } else {
                preset == .overnight ? presetOrigin : nil
            }
        case .battery: minimumBatteryPercent.map { .option("--minimum-battery \($0)") }
        case .network:
            networks.map { .option("--networks " + $0.members.joined(separator: ",")) }
        case .pressure:
            pressures.isEmpty
                ? nil
                : .option(facts.exceeded(pressures).map { "\($0.option) \($0.percent)" }.joined(separator: " "))
        default: nil
        }
    }

    /// The origin of a constraint whose option takes "yes" or "no". With "yes", the origin is the option. With "no",
    /// the result is nil. If the option is not set, the origin is the preset.
    private func optionOrPreset(_ given: Bool?, _ option: String) -> Origin? {
        switch given {
        case true: .option(option)
        case false: nil
        case nil: presetOrigin
        }
    }

    private var presetOrigin: Origin? { preset.map { .preset($0.word) } }

    /// A limit of one kind of pressure.
    struct Pressure {
        let option: String
        let percent: Int
        let condition: Condition.Kind
    }

    var pressures: [Pressure] {
        let limits: [(String, Int?, Condition.Kind)] = [
            ("--maximum-cpu-pressure", maximumCPUPressurePercent, .cpuPressure),
            ("--maximum-io-pressure", maximumIOPressurePercent, .ioPressure),
            ("--maximum-memory-pressure", maximumMemoryPressurePercent, .memoryPressure),
        ]
        return limits.compactMap { option, percent, condition in
            percent.map { Pressure(option: option, percent: $0, condition: condition) }
        }
    }
}
