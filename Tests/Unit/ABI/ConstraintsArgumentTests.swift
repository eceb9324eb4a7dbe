import BackhaulModel
import CBackhaul
import Glibc
import Testing

@testable import BackhaulABI

@Suite("Constraints, networks and activities of a host")
struct ConstraintsArgumentTests {
    @Test("the library reads all constraints in a task's policy, and refuses a reserved field that is not 0")
    func policy() throws {
        let hours = strdup("22:00-06:30")
        defer { free(hours) }
        var given = bh_policy()
        given.struct_size = MemoryLayout<bh_policy>.size
        given.constraints.preset = Int32(BH_PRESET_OVERNIGHT)
        given.constraints.requires_external_power = Int32(BH_YES)
        given.constraints.requires_unmetered = Int32(BH_NO)
        given.constraints.networks = UInt32(BH_NETWORK_WIFI | BH_NETWORK_TUNNEL)
        given.constraints.minimum_battery_percent = 1
        given.constraints.maximum_thermal_state = Int32(BH_THERMAL_FAIR)
        given.constraints.maximum_cpu_pressure_percent = 2
        given.constraints.maximum_io_pressure_percent = 3
        given.constraints.maximum_memory_pressure_percent = 100
        given.constraints.minimum_bytes_per_second = .max
        given.constraints.quiet_hours = UnsafePointer(hours)
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

        given.constraints.reserved.1 = 1
        let failure = failure { () throws(Failure) in try PolicyArgument.read(&given) }
        #expect(failure?.message == "constraints.reserved is not 0; initialize the struct with BH_INIT")
    }

    @Test("the library reads the settings of a network, and stores 0 for a budget without a limit")
    func network() throws {
        let name = strdup("Hotspot")
        defer { free(name) }
        var given = bh_network()
        given.struct_size = MemoryLayout<bh_network>.size
        given.name = UnsafePointer(name)
        #expect(try NetworkArgument.read(&given).isDefault)
        given.metered = Int32(BH_NO)
        given.month_starts_on = 28
        given.budget.daily = .max
        given.budget.monthly = 7
        given.used_today = 9
        var expected = NetworkSettings(name: "Hotspot")
        expected.isMetered = false
        expected.monthStartsOn = 28
        expected.budget = ByteBudget(daily: 0, monthly: 7)
        #expect(try NetworkArgument.read(&given) == expected)
    }

    @Test("the library reads an activity and its request")
    func activity() throws {
        let (name, url) = (strdup("feed"), strdup("http://127.0.0.1/feed"))
        defer {
            free(name)
            free(url)
        }
        var request = bh_request()
        request.struct_size = MemoryLayout<bh_request>.size
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
