@testable import BackhaulConditions
import BackhaulModel
import Testing

/// The kernel has a *thermal zone* for each heat sensor. A *trip point* is a temperature at which the zone becomes
/// passive, hot or critical.
@Suite("Heat")
struct HeatTests {
    /// The files of a laptop processor's thermal zone. Its trip points are passive at 85, hot at 95 and critical at 105
    /// degrees.
    static func processor(_ temperature: String) -> [String: String] {
        [
            "type": "x86_pkg_temp", "mode": "enabled", "temp": temperature,
            "trip_point_0_type": "passive", "trip_point_0_temp": "85000", "trip_point_0_hyst": "5000",
            "trip_point_1_type": "hot", "trip_point_1_temp": "95000", "trip_point_1_hyst": "3000",
            "trip_point_2_type": "critical", "trip_point_2_temp": "105000", "trip_point_2_hyst": "0",
        ]
    }

    static func state(_ tree: FakeTree, after before: [String: ThermalState] = [:]) -> HeatState {
        HeatState.read(SystemTree(root: tree.root), after: before)
    }

    @Test(
        "the trip points of a thermal zone determine the thermal state",
        arguments: [
            ("20000", ThermalState.nominal), ("84999", .nominal), ("85000", .fair), ("94999", .fair),
            ("95000", .serious),
            ("101999", .serious), ("102000", .critical), ("120000", .critical), ("-20000", .nominal),
        ])
    func levels(_ temperature: String, _ level: ThermalState) {
        let tree = FakeTree()
        tree.zone(0, HeatTests.processor(temperature))
        #expect(HeatTests.state(tree).thermalState.value == level)
    }

    @Test(
        "a thermal zone with only a critical trip point becomes serious ten degrees below that point",
        arguments: [
            ("94999", ThermalState.nominal), ("95000", .serious), ("101999", .serious), ("102000", .critical),
        ])
    func criticalAlone(_ temperature: String, _ level: ThermalState) {
        let tree = FakeTree()
        tree.zone(0, ["temp": temperature, "trip_point_0_type": "critical", "trip_point_0_temp": "105000"])
        #expect(HeatTests.state(tree).thermalState.value == level)
    }

    @Test(
        "a thermal zone with an implausible temperature is ignored",
        arguments: [
            "-40000", "0", "200000", "-274000", "151000", "-31000", "", "abc", "99999999999999999999", "1e5", "85.0",
        ])
    func implausible(_ temperature: String) {
        let tree = FakeTree()
        tree.zone(0, HeatTests.processor(temperature))
        #expect(HeatTests.state(tree).thermalState.value == nil)
        tree.zone(1, HeatTests.processor("90000"))
        #expect(HeatTests.state(tree).thermalState.value == .fair)
    }

    @Test(
        "implausible trip points of a thermal zone are ignored",
        arguments: [
            ("critical", "0"), ("critical", "-274000"), ("critical", "201000"), ("critical", "20800"), ("hot", "10000"),
            ("passive", "0"), ("passive", "-5000"), ("active", "250000"), ("critical", ""), ("unheard-of", "50000"),
            ("critical", "-9223372036854775808"), ("hot", "9223372036854775807"),
        ])
    func implausibleTrips(_ type: String, _ temperature: String) {
        let tree = FakeTree()
        tree.zone(0, ["temp": "60000", "trip_point_0_type": type, "trip_point_0_temp": temperature])
        #expect(HeatTests.state(tree).thermalState.value == .nominal)
    }

    @Test("a thermal zone that is disabled or has no trip points counts as nominal")
    func others() {
        let tree = FakeTree()
        tree.zone(0, ["type": "iwlwifi_1", "temp": "70000"])
        #expect(HeatTests.state(tree).thermalState.value == .nominal)
        var off = HeatTests.processor("104000")
        off["mode"] = "disabled"
        tree.zone(1, off)
        #expect(HeatTests.state(tree).thermalState.value == .nominal)
    }

    @Test("the thermal zone with the highest state decides, and the source of the reading names this zone")
    func several() {
        let tree = FakeTree()
        tree.zone(0, HeatTests.processor("60000"))
        tree.zone(3, HeatTests.processor("96000"))
        tree.zone(7, ["temp": "110000"])
        let state = HeatTests.state(tree)
        #expect(state.thermalState.value == .serious)
        #expect(
            state.thermalState.source == "\(tree.root)/class/thermal/thermal_zone3 (x86_pkg_temp, 96 degrees)")
    }

    @Test(
        "a thermal state ends some degrees (the hysteresis, at least two) below its start temperature",
        arguments: [
            ("93000", ThermalState.serious, ThermalState.serious), ("92001", .serious, .serious),
            ("92000", .serious, .fair), ("80001", .serious, .fair), ("80000", .serious, .nominal),
            ("100001", .critical, .critical), ("100000", .critical, .serious), ("93000", .fair, .fair),
            ("84000", .nominal, .nominal),
        ])
    func hysteresis(_ temperature: String, _ before: ThermalState, _ level: ThermalState) {
        let tree = FakeTree()
        tree.zone(0, HeatTests.processor(temperature))
        #expect(HeatTests.state(tree, after: ["thermal_zone0": before]).thermalState.value == level)
    }

    @Test(
        "a throttled processor has the thermal state fair, and a running fan changes no state",
        arguments: [
            ("Processor", "1", ThermalState.fair), ("thermal-cpufreq-0", "2", .fair), ("intel_powerclamp", "20", .fair),
            ("intel_powerclamp", "-1", .nominal), ("cpufreq-cpu4", "0", .nominal), ("Fan", "3", .nominal),
            ("pwm-fan", "255", .nominal), ("LCD", "7", .nominal), ("TCC Offset", "10", .nominal),
            ("Processor", "99", .nominal), ("Processor", "", .nominal), ("Processor", "abc", .nominal),
        ])
    func cooling(_ type: String, _ state: String, _ level: ThermalState) {
        let tree = FakeTree()
        tree.zone(0, HeatTests.processor("50000"))
        let device = "class/thermal/cooling_device0"
        tree.write("\(device)/type", type)
        tree.write("\(device)/cur_state", state)
        tree.write("\(device)/max_state", type == "Processor" ? "10" : "255")
        let found = HeatTests.state(tree)
        #expect(found.thermalState.value == level)
        if level == .fair { #expect(found.thermalState.source == "\(tree.root)/\(device) (\(type))") }
    }

    @Test("a thermal zone is found even among very many cooling devices")
    func manyDevices() {
        let tree = FakeTree()
        for number in 0..<600 { tree.makeFolder("class/thermal/cooling_device\(number)") }
        tree.zone(0, HeatTests.processor("96000"))
        #expect(HeatTests.state(tree).thermalState.value == .serious)
    }

    @Test("if there are no thermal zones, the thermal state is unknown")
    func none() {
        let tree = FakeTree()
        #expect(HeatTests.state(tree).thermalState.value == nil)
        tree.makeFolder(HeatState.folder)
        #expect(HeatTests.state(tree).thermalState.value == nil)
        #expect(!HeatTests.state(tree).hasZones)
    }
}
