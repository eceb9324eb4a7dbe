@testable import BackhaulConditions
import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

private let hasPressureTriggers = PressureTrigger(.cpu, in: SystemTree(root: "/proc")) != nil

/// A condition, such as power or heat, is *needed* while tasks depend on it. A *watch* reads only the needed
/// conditions. A *listing* is one reading of all conditions. A program that writes a *trigger* to a pressure file of
/// the kernel is notified of pressure.
@Suite("Watching conditions")
struct ConditionsWatchTests {
    static func laptop() -> FakeTree {
        let tree = FakeTree()
        tree.supply("AC", Supplies.mains("1"))
        tree.supply("BAT0", Supplies.battery("Charging", "80"))
        tree.zone(0, HeatTests.processor("50000"))
        for resource in PressureResource.allCases {
            tree.write("pressure/\(resource.rawValue)", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0")
        }
        return tree
    }

    @Test("conditions that are not needed are not read")
    func notNeeded() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop())
        defer { harness.stop() }
        #expect(await harness.current == Conditions())
        await harness.need(.heat)
        let conditions = await harness.settled()
        #expect(conditions.thermalState.value == .nominal)
        #expect(conditions.externalPower == Reading(source: "not read"))
        await harness.need([])
        #expect(await harness.current == Conditions())
    }

    @Test("a watch is settled when all needed conditions have been read")
    func settled() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop())
        defer { harness.stop() }
        #expect(await harness.onLoop { $0.watch?.isSettled } == true)
        let isSettled = await harness.onLoop { context in
            context.watch?.needs = .all
            return context.watch?.isSettled
        }
        #expect(isSettled == false)
        let conditions = await harness.settled()
        #expect(conditions.externalPower.value == true)
        #expect(conditions.batteryPercent.value == 80)
        #expect(conditions.thermalState.value == .nominal)
        #expect(conditions.cpuPressurePercent.value == 0)
        #expect(conditions.isPreparingForSleep.source.hasPrefix("the system's message bus cannot be used"))
    }

    @Test("at the next reading, the watch notices that a thermal zone has become hotter or cooler")
    func heat() async throws {
        let tree = ConditionsWatchTests.laptop()
        let harness = try WatchHarness(tree, interval: 10)
        defer { harness.stop() }
        await harness.need(.heat)
        await harness.until { $0.thermalState.value == .nominal }
        tree.replace("class/thermal/thermal_zone0/temp", "96000")
        await harness.until { $0.thermalState.value == .serious }
        // The thermal state falls when the zone is three degrees below the state's trip point. Here the zone is less
        // than three degrees below this point, so the state stays the same.
        tree.replace("class/thermal/thermal_zone0/temp", "93500")
        var conditions = await harness.current
        while !conditions.thermalState.source.hasSuffix("93 degrees)") { conditions = await harness.current }
        #expect(conditions.thermalState.value == .serious)
        tree.replace("class/thermal/thermal_zone0/temp", "60000")
        await harness.until { $0.thermalState.value == .nominal }
    }

    @Test("the watch polls pressure if the kernel has no trigger for the pressure file")
    func pressure() async throws {
        let tree = ConditionsWatchTests.laptop()
        let harness = try WatchHarness(tree, interval: 10)
        defer { harness.stop() }
        await harness.need(.ioPressure)
        await harness.until { $0.ioPressurePercent.value == 0 }
        tree.replace("pressure/io", "some avg10=42.00 avg60=0.00 avg300=0.00 total=0")
        let conditions = await harness.until { $0.ioPressurePercent.value == 42 }
        #expect(conditions.cpuPressurePercent.value == nil)
    }

    /// The test makes its machine busy, and reads the machine's real pressure.
    @Test("a kernel trigger reports pressure", .enabled(if: hasPressureTriggers))
    func kernelPressure() async throws {
        // The interval is longer than the test, so only the trigger can report the pressure.
        let harness = try WatchHarness(FakeTree(), processes: "/proc", interval: 3_600_000)
        defer { harness.stop() }
        await harness.need(.cpuPressure)
        await harness.settled()
        let isOver = Lock(false)
        let busy = try (0..<2 + sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in
            try Thread(name: "busy") { while !isOver.withLock({ $0 }) {} }
        }
        let conditions = await harness.until { $0.cpuPressurePercent.value ?? 0 > 0 }
        isOver.change { $0 = true }
        for thread in busy { thread.join() }
        #expect(conditions.cpuPressurePercent.source == "/proc/pressure/cpu")
        // The trigger has fired. From now on, the watch polls until there is no pressure any more.
        #expect(await harness.onLoop { $0.watch?.triggers.isEmpty } == true)
        #expect(await harness.onLoop { $0.watch?.polledNeeds } == .cpuPressure)
    }

    @Test("the thread that reads files exists only while a needed condition is read from files")
    func thread() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop())
        defer { harness.stop() }
        #expect(await harness.onLoop { $0.watch?.readers.reader == nil })
        await harness.need([.power, .heat, .network])
        await harness.settled()
        #expect(await harness.onLoop { $0.watch?.readers.reader != nil })
        #expect(await harness.onLoop { $0.watch?.routes != nil && $0.watch?.devices != nil })
        await harness.need(.sleep)
        #expect(await harness.onLoop { $0.watch?.readers.reader == nil })
        #expect(await harness.onLoop { $0.watch?.routes == nil && $0.watch?.devices == nil })
    }

    @Test("a power supply whose file is a pipe without a writer does not block readings of other supplies")
    func pipe() async throws {
        let tree = ConditionsWatchTests.laptop()
        tree.makePipe("class/power_supply/BAT1/type")
        let harness = try WatchHarness(tree)
        defer { harness.stop() }
        await harness.need(.power)
        #expect(await harness.settled().batteryPercent.value == 80)
    }

    @Test("if another thread changes files during a reading, the reading still has a plausible value")
    func rewritten() async throws {
        let tree = ConditionsWatchTests.laptop()
        let isOver = Lock(false)
        let writer = try Thread(name: "writer") {
            var round = 0
            while !isOver.withLock({ $0 }) {
                round += 1
                tree.replace("class/power_supply/AC/online", round % 2 == 0 ? "1" : "0")
                tree.write("class/power_supply/BAT0/capacity", "\(20 + round % 3)")
                tree.supply("BAT\(round % 7 + 1)", ["type": "Battery", "capacity": round % 2 == 0 ? "-5" : "abc"])
                tree.remove("class/power_supply/BAT\((round + 3) % 7 + 1)")
                tree.zone(round % 5 + 1, HeatTests.processor(round % 2 == 0 ? "200000" : "60000"))
                tree.remove("class/thermal/thermal_zone\((round + 2) % 5 + 1)")
                tree.replace("pressure/cpu", round % 2 == 0 ? "some avg10=7.00" : "some avg10=x")
            }
        }
        let files = SystemTree(root: tree.root)
        for _ in 0..<1_000 {
            let power = PowerState.read(files)
            #expect(power.externalPower.value != nil)
            // A reader may see only the start of a file that is written in place: "2" of "22".
            #expect([nil, 2, 20, 21, 22, 80].contains(power.batteryPercent.value))
            let heat = HeatState.read(files, after: [:])
            #expect(heat.thermalState.value == .nominal)
            let pressure = PressureResource.cpu.read(files)
            #expect([nil, 0, 7].contains(pressure.value))
        }
        isOver.change { $0 = true }
        writer.join()
    }

    @Test("even if all conditions are needed, the loop wakes only for the regular readings")
    func idle() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), interval: 3_600_000)
        defer { harness.stop() }
        await harness.need(.all)
        await harness.settled()
        let before = await harness.onLoop { $0.changes }
        let threads = ProcessCount.threads(named: "bh-conditions")
        #expect(threads >= 1)
        let polledNeeds = await harness.onLoop { $0.watch?.polledNeeds }
        // The pressure files of the fake tree have no triggers, so the watch reads pressure at intervals.
        #expect(polledNeeds?.contains([.cpuPressure, .ioPressure, .memoryPressure, .heat]) == true)
        #expect(await harness.onLoop { $0.watch?.readingTimer.millisecondsLeft ?? 0 } > 3_500_000)
        #expect(await harness.onLoop { $0.watch?.readers.reading.isEmpty ?? false })
        #expect(await harness.onLoop { $0.changes } == before)
    }

    @Test("if the kernel sends device events, a machine on mains power without heat sensors is not read at intervals")
    func reportedOnce() async throws {
        let tree = FakeTree()
        tree.supply("AC", Supplies.mains("1"))
        tree.supply("BAT0", Supplies.battery("Full", "100"))
        tree.makeFolder("class/thermal")
        let harness = try WatchHarness(tree)
        defer { harness.stop() }
        await harness.need([.power, .heat, .cpuPressure])
        await harness.settled()
        let state = await harness.onLoop { ($0.watch?.polledNeeds, $0.watch?.devices?.events.isComplete) }
        #expect(state.0 == (state.1 == true ? [] : [.power, .heat]))
    }

    @Test("each needed condition is pending until it is read, and each reading is reported")
    func pending() async throws {
        let bus = try FakeBus()
        let harness = try WatchHarness(FakeTree(), bus: bus)
        defer { harness.stop() }
        let first = await harness.onLoop { context in
            context.watch?.needs = [.power, .sleep]
            return context.watch?.pending
        }
        #expect(first == [.power, .sleep])
        // The tree has no folder for power supplies, so the reading changes no value.
        await harness.untilPending(.sleep)
        bus.setReadings { _ in }
        await harness.untilPending([])
        let again = await harness.onLoop { context in
            context.watch?.needs = .sleep
            context.watch?.needs = [.power, .sleep]
            return context.watch?.pending
        }
        #expect(again?.contains(.power) == true)
    }

    @Test("a closed watch reads no condition, and returns no listing of conditions")
    func close() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop())
        await harness.need(.all)
        await harness.onLoop { context in
            context.watch?.readAll { _ in Issue.record("a listing was returned after close") }
            context.watch?.close()
            context.watch?.needs = .all
        }
        #expect(await harness.current == Conditions())
        #expect(await harness.onLoop { $0.watch?.readers.reader == nil && $0.watch?.systemBus == nil })
        harness.stop()
    }

    @Test("if the user configures that a network is metered, this takes effect at once")
    func administrator() async throws {
        let bus = try FakeBus()
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        await harness.need(.network)
        bus.setReadings { $0.network = Reading(Network(name: "Phone", kind: .wifi), source: "NetworkManager") }
        let conditions = await harness.settled()
        guard conditions.network.value != nil else { return }
        let metered = await harness.onLoop { context in
            context.watch?.metered = ["Phone": true]
            return context.watch?.current.isMetered
        }
        #expect(metered == Reading(true, source: "configured"))
    }
}
