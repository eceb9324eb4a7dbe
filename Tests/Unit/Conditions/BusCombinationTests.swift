@testable import BackhaulConditions
import BackhaulModel
import Testing

@Suite("A message bus beside the kernel")
struct BusCombinationTests {
    @Test("the bus is opened for the needs that it serves, and closed without them")
    func openAndClosed() async throws {
        let bus = try PlayedBus()
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        await harness.need(.power)
        #expect(bus.starts == [])
        await harness.need([.power, .sleep])
        #expect(bus.starts == [.sleep])
        await harness.need([.power])
        #expect(bus.closes == 1)
    }

    @Test("sleep is reported, and the delay is released")
    func sleep() async throws {
        let bus = try PlayedBus()
        let harness = try WatchHarness(FakeTree(), bus: bus)
        defer { harness.stop() }
        await harness.need(.sleep)
        bus.say { $0.isAboutToSleep = Reading(false, source: "logind") }
        await harness.until { $0.isAboutToSleep.value == false }
        bus.say { $0.isAboutToSleep = Reading(true, source: "logind") }
        await harness.until { $0.isAboutToSleep.value == true }
        await harness.ask { $0.watch?.readyToSleep() }
        #expect(bus.sleepReleases == 1)
    }

    @Test("readings of the network stay valid while the bus is asked for another need")
    func kept() async throws {
        let bus = try PlayedBus()
        let harness = try WatchHarness(FakeTree(), bus: bus)
        defer { harness.stop() }
        await harness.need(.network)
        bus.say { $0.isMetered = Reading(true, source: "NetworkManager") }
        // Without a route the readings of the bus are ignored.
        let told = await harness.until { $0.isMetered.value == true || $0.connectivity.value == ConnectivityState.none }
        let before = told.isMetered
        bus.forget()
        let after = await harness.ask { desk in
            desk.watch?.needs = [.network, .sleep]
            return desk.watch?.current.isMetered
        }
        #expect(after == before)
        #expect(bus.starts == [.network])
        #expect(bus.wants == [.network, [.network, .sleep]])
        #expect(bus.closes == 0)
    }

    @Test("without a bus nothing waits for one")
    func noBus() async throws {
        let harness = try WatchHarness(FakeTree())
        defer { harness.stop() }
        let pending = await harness.ask { desk in
            desk.watch?.needs = .sleep
            return desk.watch?.pending
        }
        #expect(pending == [])
        #expect(await harness.current.isAboutToSleep.source.hasPrefix("the system's message bus cannot be used"))
    }

    @Test("a watch waits two seconds at most for a silent bus")
    func silent() async throws {
        let harness = try WatchHarness(FakeTree(), bus: try PlayedBus())
        defer { harness.stop() }
        await harness.need([.network, .sleep])
        let conditions = await harness.settled()
        #expect(conditions.isAboutToSleep.value == nil)
    }

    @Test("a listing reads everything once, and closes all sources")
    func listing() async throws {
        let bus = try PlayedBus()
        bus.say { $0.isAboutToSleep = Reading(false, source: "logind") }
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        let conditions = await harness.readAll()
        #expect(conditions.externalPower.value == true)
        #expect(conditions.thermalState.value == .nominal)
        #expect(conditions.memoryPressurePercent.value == 0)
        #expect(conditions.isAboutToSleep == Reading(false, source: "logind"))
        #expect(conditions.connectivity.source != "not looked at")
        #expect(bus.closes == 1)
        #expect(await harness.current == Conditions())
        #expect(await harness.ask { $0.watch?.listing == nil && $0.watch?.readers.reader == nil })
    }

    @Test("a listing uses the watched readings and reads the others")
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

    @Test("simultaneous listings share one reading")
    func listings() async throws {
        let bus = try PlayedBus()
        bus.say { _ in }
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: bus)
        defer { harness.stop() }
        async let first = harness.readAll()
        async let second = harness.readAll()
        #expect(await first.externalPower.value == true)
        #expect(await second.externalPower.value == true)
    }

    @Test("a listing reports a silent bus")
    func silentListing() async throws {
        let harness = try WatchHarness(ConditionsWatchTests.laptop(), bus: try PlayedBus())
        defer { harness.stop() }
        let conditions = await harness.readAll()
        #expect(conditions.batteryPercent.value == 80)
        #expect(conditions.isAboutToSleep.source == "the bus has not answered within two seconds")
    }
}
