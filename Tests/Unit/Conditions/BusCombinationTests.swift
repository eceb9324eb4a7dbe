@testable import BackhaulConditions
import BackhaulModel
import Testing

/// A *watch* reads conditions, which are facts such as power, sleep or the network. The network and sleep come from the
/// message bus, and power comes from the kernel. A condition is *needed* while tasks depend on it. A *listing* is one
/// reading of all conditions. A call of `readyToSleep` permits the machine to sleep.
@Suite("Conditions from the message bus and the kernel")
struct BusCombinationTests {
    @Test("the message bus is open only while a condition from the bus is needed")
    func openAndClosed() async throws {
        let bus = try FakeBus()
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        await harness.need(.power)
        #expect(bus.starts == [])
        await harness.need([.power, .sleep])
        #expect(bus.starts == [.sleep])
        await harness.need([.power])
        #expect(bus.closes == 1)
    }

    @Test("the watch reports that a sleep begins, and delays this sleep until `readyToSleep` is called")
    func sleep() async throws {
        let bus = try FakeBus()
        let harness = try WatchHarness(FakeTree(), bus: bus)
        defer { harness.stop() }
        await harness.need(.sleep)
        bus.setReadings { $0.isPreparingForSleep = Reading(false, source: "logind") }
        await harness.until { $0.isPreparingForSleep.value == false }
        bus.setReadings { $0.isPreparingForSleep = Reading(true, source: "logind") }
        await harness.until { $0.isPreparingForSleep.value == true }
        await harness.onLoop { $0.watch?.readyToSleep() }
        #expect(bus.sleepReleases == 1)
    }

    @Test("the readings of the network stay valid when another condition becomes needed")
    func kept() async throws {
        let bus = try FakeBus()
        let harness = try WatchHarness(FakeTree(), bus: bus)
        defer { harness.stop() }
        await harness.need(.network)
        bus.setReadings { $0.isMetered = Reading(true, source: "NetworkManager") }
        // If the machine that runs the tests has no route, the watch ignores the readings of the bus.
        let reported = await harness.until {
            $0.isMetered.value == true || $0.connectivity.value == ConnectivityState.none
        }
        let before = reported.isMetered
        bus.resetReadings()
        let after = await harness.onLoop { context in
            context.watch?.needs = [.network, .sleep]
            return context.watch?.current.isMetered
        }
        #expect(after == before)
        #expect(bus.starts == [.network])
        #expect(bus.subscriptions == [.network, [.network, .sleep]])
        #expect(bus.closes == 0)
    }

    @Test("without a message bus, the watch does not wait for a reading of the condition `sleep`")
    func noBus() async throws {
        let harness = try WatchHarness(FakeTree())
        defer { harness.stop() }
        let pending = await harness.onLoop { context in
            context.watch?.needs = .sleep
            return context.watch?.pending
        }
        #expect(pending == [])
        #expect(await harness.current.isPreparingForSleep.source.hasPrefix("the system's message bus cannot be used"))
    }

    @Test("a watch waits at most two seconds for a bus that does not reply")
    func silent() async throws {
        let harness = try WatchHarness(FakeTree(), bus: try FakeBus())
        defer { harness.stop() }
        await harness.need([.network, .sleep])
        let conditions = await harness.settled()
        #expect(conditions.isPreparingForSleep.value == nil)
    }

    @Test("a listing reads each condition one time, and then closes the connections and descriptors")
    func listing() async throws {
        let bus = try FakeBus()
        bus.setReadings { $0.isPreparingForSleep = Reading(false, source: "logind") }
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        let conditions = await harness.readAll()
        #expect(conditions.externalPower.value == true)
        #expect(conditions.thermalState.value == .nominal)
        #expect(conditions.memoryPressurePercent.value == 0)
        #expect(conditions.isPreparingForSleep == Reading(false, source: "logind"))
        #expect(conditions.connectivity.source != "not read")
        #expect(bus.closes == 1)
        #expect(await harness.current == Conditions())
        #expect(await harness.onLoop { $0.watch?.listing == nil && $0.watch?.readers.reader == nil })
    }

    @Test("a listing uses the watch's values of needed conditions, and reads the other conditions")
    func listingBesideWatch() async throws {
        let tree = ConditionsWatchTests.laptop()
        let harness = try WatchHarness(tree)
        defer { harness.stop() }
        await harness.need(.heat)
        await harness.settled()
        tree.replace("class/thermal/thermal_zone0/temp", "99000")
        let conditions = await harness.readAll()
        #expect(conditions.thermalState.value == .nominal)
        #expect(conditions.batteryPercent.value == 80)
    }

    @Test("if two listings of conditions begin at the same time, each condition is read only one time")
    func listings() async throws {
        let bus = try FakeBus()
        bus.setReadings { _ in }
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        let readings = await harness.readAll(times: 2)
        #expect(readings.map(\.externalPower.value) == [true, true])
        #expect(bus.starts.count == 1)
    }

    @Test("if the bus does not reply, a listing of conditions reports this")
    func silentListing() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: try FakeBus())
        defer { harness.stop() }
        let conditions = await harness.readAll()
        #expect(conditions.batteryPercent.value == 80)
        #expect(conditions.isPreparingForSleep.source == "the bus has not replied within two seconds")
    }
}
