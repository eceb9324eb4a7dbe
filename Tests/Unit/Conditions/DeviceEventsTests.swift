@testable import BackhaulConditions
import BackhaulLoop
import BackhaulModel
import CLinux
import Glibc
import Testing

/// Whether a thread of this process may enter a network namespace of its own. In that namespace, the thread can send
/// messages in place of the kernel.
let mayOwnNetwork = geteuid() == 0 && mayUseOwnNetwork()

private func mayUseOwnNetwork() -> Bool {
    // Only the harness's thread enters another network namespace.
    guard let harness = try? WatchHarness(FakeTree(), ownNetwork: true) else { return false }
    harness.stop()
    return true
}

func uevent(_ subsystem: String, _ device: String) -> [CChar] {
    let fields = ["change@/devices/\(device)", "ACTION=change", "SUBSYSTEM=\(subsystem)", "SEQNUM=1"]
    return fields.flatMap { $0.utf8CString }
}

/// The kernel sends a *device event* (uevent) when a device changes.
@Suite("Device events of the kernel")
struct DeviceEventsTests {
    @Test(
        "only device events of power supplies and thermal sensors are used",
        arguments: [
            ("power_supply", .powerSupply), ("thermal", .thermal), ("block", []), ("power", []),
            ("", []),
        ] as [(String, DeviceEvents.Subsystems)])
    func subsystems(_ name: String, _ subsystems: DeviceEvents.Subsystems) {
        let message = uevent(name, "AC").map { UInt8(bitPattern: $0) }
        #expect(DeviceEvents.subsystem(of: message) == subsystems)
    }

    @Test(
        "malformed device events are ignored",
        arguments: [
            [], [0], [0, 0, 0], Array("libudev".utf8), Array("SUBSYSTEM=power_suppl".utf8), [255, 254, 0, 253],
        ])
    func nonsense(_ message: [UInt8]) { #expect(DeviceEvents.subsystem(of: message) == []) }

    @Test("the descriptor of device events is closed on exec, and a read from the descriptor does not block")
    func descriptor() throws {
        let events = try DeviceEvents()
        #expect(fcntl(events.number, F_GETFD) & FD_CLOEXEC != 0)
        _ = events.take()
    }

    /// Writes the files of a laptop, and starts a watch of these files in a separate network namespace. Returns the
    /// files and the watch after the watch's first readings.
    private func laptop(needing needs: ConditionSet) async throws -> (FakeTree, WatchHarness) {
        let tree = ConditionsWatchTests.laptop()
        let harness = try WatchHarness(tree, ownNetwork: true)
        await harness.need(needs)
        await harness.settled()
        return (tree, harness)
    }

    @Test("when the kernel reports that a laptop was unplugged, power is read again", .enabled(if: mayOwnNetwork))
    func unplugged() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        tree.supply("BAT0", Supplies.battery("Discharging", "80"))
        await harness.sendDeviceEvent(uevent("power_supply", "AC"))
        let conditions = await harness.until { $0.externalPower.value == false }
        #expect(conditions.batteryPercent.value == 80)
        // The kernel sends no event when the charge of a battery falls, so the watch polls the charge.
        #expect(await harness.onLoop { $0.watch?.readingTimer.isRunning } == true)

        tree.supply("AC", Supplies.mains("1"))
        await harness.sendDeviceEvent(uevent("power_supply", "AC"))
        await harness.until { $0.externalPower.value == true }
    }

    @Test("when a heat sensor sends a device event, the sensor is read immediately", .enabled(if: mayOwnNetwork))
    func hot() async throws {
        let (tree, harness) = try await laptop(needing: .heat)
        defer { harness.stop() }
        tree.replace("class/thermal/thermal_zone0/temp", "103000")
        await harness.sendDeviceEvent(uevent("thermal", "virtual/thermal/thermal_zone0"))
        await harness.until { $0.thermalState.value == .critical }
    }

    @Test("after a malformed message or an event of another device, nothing is read", .enabled(if: mayOwnNetwork))
    func others() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        for message in [uevent("block", "sda"), [0, 0], Array("x".utf8CString), uevent("power_supply_not", "AC")] {
            await harness.sendDeviceEvent(message)
        }
        // When the watch has taken this message, it has also taken the earlier messages.
        await harness.sendDeviceEvent(uevent("block", "sdb"))
        #expect(await harness.onLoop { $0.watch?.readers.reading.isEmpty } == true)
        #expect(await harness.current.externalPower.value == true)
    }

    @Test("if device events are lost, all needed conditions are read again", .enabled(if: mayOwnNetwork))
    func flood() async throws {
        let (tree, harness) = try await laptop(needing: .power)
        defer { harness.stop() }
        tree.supply("AC", Supplies.mains("0"))
        // One iteration of the event loop sends all messages, so the watch takes no message before all are sent. Only
        // the last message is about power. The queue is full before this message, so the message is lost.
        let message = uevent("block", String(repeating: "s", count: 1_000))
        let last = uevent("power_supply", "AC")
        await harness.onLoop { _ in
            for _ in 0..<2_000 { _ = bhl_send_device_event(message, message.count) }
            _ = bhl_send_device_event(last, last.count)
        }
        await harness.until { $0.externalPower.value == false }
    }

    @Test("without a default route, there is no network, and the connectivity is `none`", .enabled(if: mayOwnNetwork))
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
    /// Sends a message in place of the kernel, in the watch's network namespace. Returns after the next loop iteration.
    func sendDeviceEvent(_ message: [CChar]) async {
        let result = await onLoop { _ in bhl_send_device_event(message, message.count) }
        #expect(result == 0)
        await onLoop { _ in }
    }
}
