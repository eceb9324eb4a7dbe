import BackhaulModel
import Testing

/// The *boot clock* counts the time since the boot. A machine without a battery for its clock shows 1970 after a boot.
@Suite("Clock steps")
struct ClockStepTests {
    private static let year2026: Int64 = 1_767_225_600_000

    private func reading(_ wall: Int64, _ boot: Int64, _ id: String = "a") -> ClockReading {
        ClockReading(wall: wall, boot: boot, bootID: id)
    }

    @Test("elapsed time is no clock step, even if the clock is adjusted slowly", arguments: [0, 9_000, -9_000])
    func passes(slewed: Int64) {
        let day: Int64 = 86_400_000
        #expect(
            ClockStep.between(
                reading(Self.year2026, 5_000), reading(Self.year2026 + day + slewed, 5_000 + day)) == 0)
    }

    @Test(
        "within one boot, a jump of the wall clock relative to the boot clock is a clock step",
        arguments: [-86_400_000, 60_000])
    func jumps(by distance: Int64) {
        #expect(
            ClockStep.between(
                reading(Self.year2026, 0), reading(Self.year2026 + 1_000 + distance, 1_000)) == distance)
    }

    @Test("if a clock shows 1970 and is set to the present time, the difference is the clock step")
    func starts() {
        #expect(
            ClockStep.between(reading(300_000, 300_000), reading(Self.year2026, 400_000))
                == Self.year2026 - 400_000)
    }

    @Test("the time between two boots is no clock step")
    func boots() {
        #expect(ClockStep.between(reading(Self.year2026, 9), reading(Self.year2026 + 5_000_000, 1, "b")) == 0)
    }

    @Test("if a clock shows 1970 only before or only after a reboot, the difference is a clock step")
    func bootsWithoutCalendar() {
        #expect(ClockStep.between(reading(Self.year2026, 9), reading(60_000, 1, "b")) == 60_000 - Self.year2026)
        #expect(ClockStep.between(reading(60_000, 9), reading(Self.year2026, 1, "b")) == Self.year2026 - 60_000)
    }

    @Test("impossible clock readings cause no clock step")
    func absurd() {
        #expect(ClockStep.between(reading(.min, 0), reading(.max, 0)) == 0)
        #expect(ClockStep.between(reading(.min, 0), reading(.max, 0, "b")) == 0)
    }
}
