internal import BackhaulModel

/// A cooling device in /sys/class/thermal.
struct CoolingDevice: Equatable, Sendable {
    var name: String
    var type: String
    /// Whether the device now cools by slowing the machine down.
    var isLimiting: Bool

    init?(name: String, attribute: (String) -> String?) {
        guard let type = attribute("type"), let state = attribute("cur_state").flatMap({ Int($0) }) else { return nil }
        self.name = name
        self.type = String(type.prefix(64))
        let highest = attribute("max_state").flatMap { Int($0) } ?? .max
        // An idle limiter may report the state -1 (intel_powerclamp).
        isLimiting = CoolingDevice.isThrottle(type) && state > 0 && state <= highest
    }

    /// Whether devices of this type slow processors down. Other devices are no sign of heat: fans run on any desktop,
    /// Linux also lists the brightness of a display as a cooling device, and "TCC Offset" is a constant setting.
    static func isThrottle(_ type: String) -> Bool {
        let type = type.lowercased()
        return type == "processor" || ["cpufreq", "cpuidle", "powerclamp", "devfreq"].contains { type.has($0) }
    }
}
