@testable import BackhaulConditions
import BackhaulLoop
import BackhaulModel
import CLinux
import Glibc
import Testing

/// Whether this process may have its own network namespace, in which it can send the kernel's messages.
let mayLeaveNetwork = geteuid() == 0 && mayLeave()

private func mayLeave() -> Bool {
    // Only the harness's thread enters another network namespace.
    guard let harness = try? WatchHarness(FakeTree(), ownNetwork: true) else { return false }
    harness.stop()
    return true
}

func uevent(_ subsystem: String, _ device: String) -> [CChar] {
    let fields = ["change@/devices/\(device)", "ACTION=change", "SUBSYSTEM=\(subsystem)", "SEQNUM=1"]
    return fields.flatMap { $0.utf8CString }
}

@Suite("Device events of the kernel")
struct DeviceEventsTests {
    @Test("only events of power supplies and thermal sensors are used", arguments: [
        ("power_supply", .powerSupply), ("thermal", .thermal), ("block", []), ("power", []),
        ("", []),
    ] as [(String, DeviceEvents.Subsystems)])
    func subsystems(_ name: String, _ subsystems: DeviceEvents.Subsystems) {
        let message = uevent(name, "AC").map { UInt8(bitPattern: $0) }
        #expect(DeviceEvents.subsystem(of: message) == subsystems)
    }

    @Test("malformed messages are ignored", arguments: [
        [], [0], [0, 0, 0], Array("libudev".utf8), Array("SUBSYSTEM=power_suppl".utf8), [255, 254, 0, 253],
    ])
    func nonsense(_ message: [UInt8]) { #expect(DeviceEvents.subsystem(of: message) == []) }

    @Test("the descriptor is closed on exec, and reading it does not block")
    func descriptor() throws {
        let events = try DeviceEvents()
        #expect(fcntl(events.number, F_GETFD) & FD_CLOEXEC != 0)
        _ = events.take()
    }

    /// Returns a laptop in its own network namespace, after its first readings.
    private func laptop(needing needs: ConditionNeeds) async throws -> (FakeTree, WatchHarness) {
        let tree = ConditionsWatchTests.laptop()
        let harness = try WatchHarness(tree, ownNetwork: true)
        await harness.need(needs)
        await harness.settled()
        return (tree, harness)
    }

    @Test("a laptop that is unplugged is noticed by the kernel's event", .enabled(if: mayLeaveNetwork))
    func unplugged() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        tree.supply("BAT0", Supplies.battery("Discharging", "80"))
        await harness.tell(uevent("power_supply", "AC"))
        let conditions = await harness.until { $0.externalPower.value == false }
        #expect(conditions.batteryPercent.value == 80)
        // Now the charge falls without events, so it is polled.
        #expect(await harness.ask { $0.watch?.readingTimer.isRunning } == true)

        tree.supply("AC", Supplies.mains("1"))
        await harness.tell(uevent("power_supply", "AC"))
        await harness.until { $0.externalPower.value == true }
    }

    @Test("a sensor that sends an event is read at once", .enabled(if: mayLeaveNetwork))
    func hot() async throws {
        let (tree, harness) = try await laptop(needing: .heat)
        defer { harness.stop() }
        tree.replace("class/thermal/thermal_zone0/temp", "103000")
        await harness.tell(uevent("thermal", "virtual/thermal/thermal_zone0"))
        await harness.until { $0.thermalState.value == .critical }
    }

    @Test("other devices and malformed messages cause no reading", .enabled(if: mayLeaveNetwork))
    func others() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        for message in [uevent("block", "sda"), [0, 0], Array("x".utf8CString), uevent("power_supply_not", "AC")] {
            await harness.tell(message)
        }
        // This message comes after the others, so they were taken when it has been taken.
        await harness.tell(uevent("block", "sdb"))
        #expect(await harness.ask { $0.watch?.readers.reading.isEmpty } == true)
        #expect(await harness.current.externalPower.value == true)
    }

    @Test("after a queue overflow everything is read again", .enabled(if: mayLeaveNetwork))
    func flood() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        // All are sent in one loop iteration, which takes none of them. The queue is full before the last one, which
        // matters.
        let message = uevent("block", String(repeating: "s", count: 1_000))
        let last = uevent("power_supply", "AC")
        await harness.ask { _ in
            for _ in 0..<2_000 { _ = bhl_tell_devices(message, message.count) }
            _ = bhl_tell_devices(last, last.count)
        }
        await harness.until { $0.externalPower.value == false }
    }

    @Test("a network that loses its default route is noticed", .enabled(if: mayLeaveNetwork))
    func noRoute() async throws {
        let harness = try WatchHarness(FakeTree(), ownNetwork: true)
        defer { harness.stop() }
        await harness.need(.network)
        let conditions = await harness.settled()
        #expect(conditions.connectivity.value == ConnectivityState.none)
        #expect(conditions.network.value == nil)
        #expect(conditions.isMetered.source == "there is no default route")
    }
}

extension WatchHarness {
    /// Sends a message as the kernel in the watch's network, and returns after the next loop iteration.
    func tell(_ message: [CChar]) async {
        let result = await ask { _ in bhl_tell_devices(message, message.count) }
        #expect(result == 0)
        await ask { _ in }
    }
}
