internal import BackhaulModel

/// One cooling device of /sys/class/thermal.
struct CoolingDevice: Equatable, Sendable {
    var name: String
    var type: String
    /// What it cools by makes the machine slower.
    var isLimiting: Bool

    init?(name: String, attribute: (String) -> String?) {
        guard let type = attribute("type"), let state = attribute("cur_state").flatMap({ Int($0) }) else { return nil }
        self.name = name
        self.type = String(type.prefix(64))
        let highest = attribute("max_state").flatMap { Int($0) } ?? .max
        // A limiter that rests may be at -1 (intel_powerclamp).
        isLimiting = CoolingDevice.isLimiter(type) && state > 0 && state <= highest
    }

    /// What slows processors down. Fans turn on any desktop, a display's brightness is a "cooling device", too, and
    /// "TCC Offset" is a setting that stands at the same number for ever: these do not count.
    static func isLimiter(_ type: String) -> Bool {
        let type = type.lowercased()
        return type == "processor" || ["cpufreq", "cpuidle", "powerclamp", "devfreq"].contains { type.has($0) }
    }
}
