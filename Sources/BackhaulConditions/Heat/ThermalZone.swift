internal import BackhaulModel

/// A zone in /sys/class/thermal with its plausible trip points (Documentation/driver-api/thermal/sysfs-api.rst in
/// Linux). Temperatures are in thousandths of a degree Celsius.
struct ThermalZone: Equatable, Sendable {
    /// A zone reaches the level at `temperature`, and leaves the level at `temperature` minus `hysteresis`.
    struct Threshold: Equatable, Sendable {
        var temperature: Int
        var hysteresis: Int
        var level: ThermalState
    }

    var name: String
    var type: String
    var temperature: Int
    var thresholds: [Threshold]

    /// The temperatures that a sensor in a running machine may have. Other temperatures are ignored. 0 is in this
    /// range, but is ignored, too, because it means that the sensor is switched off.
    static let plausibleTemperatures = -30_000...150_000
    /// Critical and hot trip points whose temperature is outside this range are ignored. Some mainboards have an
    /// unconfigured zone, whose critical point is near room temperature.
    static let plausibleSevereTrips = 40_000...200_000
    static let plausibleTrips = 1...200_000
    /// The smallest hysteresis that is used. The readings of sensors vary by this amount.
    static let minimumHysteresis = 2_000
    static let seriousMargin = 10_000
    static let criticalMargin = 3_000

    /// Returns nil for a zone that is disabled or has no plausible temperature.
    /// - tripNumbers: the numbers of the zone's trip point files.
    init?(name: String, tripNumbers: [Int], attribute: (String) -> String?) {
        guard attribute("mode") != "disabled", let temperature = ThermalZone.number(attribute("temp")),
            temperature != 0, ThermalZone.plausibleTemperatures.contains(temperature)
        else { return nil }
        self.name = name
        self.temperature = temperature
        type = String((attribute("type") ?? "").prefix(64))
        thresholds = tripNumbers.flatMap { number in
            ThermalZone.thresholds(
                type: attribute("trip_point_\(number)_type"),
                temperature: ThermalZone.number(attribute("trip_point_\(number)_temp")),
                hysteresis: ThermalZone.number(attribute("trip_point_\(number)_hyst")))
        }
    }

    /// Returns the present level of the zone. `before`: the level of the zone until now. After the zone has reached a
    /// level, it keeps the level until its temperature falls to the level's threshold minus the hysteresis.
    func level(after before: ThermalState) -> ThermalState {
        let reached = thresholds.filter { threshold in
            temperature >= threshold.temperature
                || before >= threshold.level && temperature > threshold.temperature - threshold.hysteresis
        }
        return reached.map(\.level).max() ?? .nominal
    }

    /// The zone in the form in which listings show it. `levels` has the temperature, in degrees, at which the zone
    /// leaves each level.
    var sensor: HottestSensor {
        let isProcessor = ["x86_pkg_temp", "coretemp", "k10temp"].contains(type) || type.hasPrefix("cpu")
        let levels = thresholds.map { ($0.level, ($0.temperature - $0.hysteresis) / 1_000) }
        return HottestSensor(
            name: (isProcessor ? "the processor's sensor " : "the sensor ") + (type.isEmpty ? name : type),
            degrees: temperature / 1_000, levels: Dictionary(levels, uniquingKeysWith: min))
    }

    private static func thresholds(type: String?, temperature: Int?, hysteresis: Int?) -> [Threshold] {
        guard let temperature else { return [] }
        let given = hysteresis.flatMap { (0...20_000).contains($0) ? $0 : nil } ?? 0
        let hysteresis = max(given, minimumHysteresis)
        switch type {
        case "critical" where plausibleSevereTrips.contains(temperature):
            return [
                Threshold(temperature: temperature - seriousMargin, hysteresis: hysteresis, level: .serious),
                Threshold(temperature: temperature - criticalMargin, hysteresis: hysteresis, level: .critical),
            ]
        case "hot" where plausibleSevereTrips.contains(temperature):
            return [Threshold(temperature: temperature, hysteresis: hysteresis, level: .serious)]
        case "passive" where plausibleTrips.contains(temperature), "active" where plausibleTrips.contains(temperature):
            return [Threshold(temperature: temperature, hysteresis: hysteresis, level: .fair)]
        default:
            return []
        }
    }

    private static func number(_ text: String?) -> Int? {
        text.flatMap { $0.utf8.count <= 16 ? Int($0) : nil }
    }
}
