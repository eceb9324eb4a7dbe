/// Checks of the constraints of a task (download or upload) or of a session (a named collection of tasks). A
/// *constraint* is a demand on the system, such as external power.
public enum ConstraintsCheck {
    public static func check(_ constraints: Constraints) throws(Failure) {
        if let networks = constraints.networks {
            let unknown = networks.subtracting(.all)
            guard unknown.isEmpty else {
                throw invalid("networks has the unknown bits 0x\(String(unknown.rawValue, radix: 16))")
            }
            guard !networks.isEmpty else { throw invalid("networks is empty: it would never run") }
        }
        let percents: [(UInt8?, String)] = [
            (constraints.minimumBatteryPercent, "minimum_battery_percent"),
            (constraints.maximumCPUPressurePercent, "maximum_cpu_pressure_percent"),
            (constraints.maximumIOPressurePercent, "maximum_io_pressure_percent"),
            (constraints.maximumMemoryPressurePercent, "maximum_memory_pressure_percent"),
        ]
        for (percent, name) in percents {
            if let percent { try FieldCheck.range(percent, 1...100, name) }
        }
        if constraints.maximumThermalState == .critical {
            throw invalid("maximum_thermal_state is BH_THERMAL_CRITICAL, in which nothing runs; give a lower one")
        }
        if let hours = constraints.quietHours {
            guard !hours.coversEverything else { throw invalid("quiet_hours cover the whole week: it would never run") }
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
