import BackhaulModel
import CBackhaul
import Glibc
import Testing

@testable import BackhaulABI

@Suite("What a host says of conditions")
struct ConstraintsArgumentTests {
    @Test("of a policy arrives field by field")
    func policy() throws {
        let hours = strdup("22:00-06:30")
        defer { free(hours) }
        var given = bh_policy()
        given.struct_size = MemoryLayout<bh_policy>.size
        given.preset = Int32(BH_PRESET_OVERNIGHT)
        given.requires_external_power = Int32(BH_YES)
        given.requires_unmetered = Int32(BH_NO)
        given.networks = UInt32(BH_NETWORK_WIFI | BH_NETWORK_TUNNEL)
        given.minimum_battery_percent = 1
        given.maximum_thermal_state = Int32(BH_THERMAL_FAIR)
        given.maximum_cpu_pressure_percent = 2
        given.maximum_io_pressure_percent = 3
        given.maximum_memory_pressure_percent = 100
        given.minimum_bytes_per_second = .max
        given.quiet_hours = UnsafePointer(hours)
        var expected = Constraints()
        expected.preset = .overnight
        expected.requiresExternalPower = true
        expected.requiresUnmetered = false
        expected.networks = [.wifi, .tunnel]
        expected.minimumBatteryPercent = 1
        expected.maximumThermalState = .fair
        expected.maximumCPUPressurePercent = 2
        expected.maximumIOPressurePercent = 3
        expected.maximumMemoryPressurePercent = 100
        expected.minimumBytesPerSecond = .max
        expected.quietHours = QuietHours("22:00-06:30")
        #expect(try PolicyArgument.read(&given).constraints == expected)

        given.struct_size = MemoryLayout<bh_policy>.offset(of: \.preset) ?? 0
        #expect(try PolicyArgument.read(&given).constraints == Constraints())
    }

    @Test("of a network arrives as far as it is said, and 0 stands for no limit")
    func network() throws {
        let name = strdup("Hotspot")
        defer { free(name) }
        var given = bh_network()
        given.struct_size = MemoryLayout<bh_network>.size
        given.name = UnsafePointer(name)
        #expect(try NetworkArgument.read(&given).isDefault)
        given.metered = Int32(BH_NO)
        given.month_starts_on = 28
        given.daily_budget = .max
        given.monthly_budget = 7
        given.used_today = 9
        var expected = NetworkSettings(name: "Hotspot")
        expected.isMetered = false
        expected.monthStartsOn = 28
        expected.budget = ByteBudget(daily: 0, monthly: 7)
        #expect(try NetworkArgument.read(&given) == expected)
    }

    @Test("of an activity arrives with its request, however large that says it is")
    func activity() throws {
        let (name, url) = (strdup("feed"), strdup("http://127.0.0.1/feed"))
        defer {
            free(name)
            free(url)
        }
        var request = bh_request()
        request.struct_size = MemoryLayout<bh_request>.offset(of: \.method) ?? 0
        request.url = UnsafePointer(url)
        var given = bh_activity()
        given.struct_size = MemoryLayout<bh_activity>.size
        given.identifier = UnsafePointer(name)
        given.interval_ms = 3_600_001
        let read = try withUnsafePointer(to: request) { pointer in
            given.request = pointer
            return try ActivityArgument.read(&given)
        }
        #expect(read.identifier == "feed" && read.intervalMilliseconds == 3_600_001)
        #expect(read.toleranceMilliseconds == 1_800_000 && read.repeats && read.qualityOfService == .background)
        #expect(read.request?.url == "http://127.0.0.1/feed" && read.firstMilliseconds == nil)
    }
}
