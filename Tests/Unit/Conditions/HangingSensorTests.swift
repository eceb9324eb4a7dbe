@testable import BackhaulConditions
import BackhaulModel
import BackhaulPlatform
import Testing

/// A fake system. In this system, the reading of some conditions blocks until `release` is called.
private final class HangingSystem: Sendable {
    private struct State {
        var hanging: ConditionSet
        var begun: [ConditionSet] = []
    }

    private let state: Lock<State>

    init(_ hanging: ConditionSet) { state = Lock(State(hanging: hanging)) }

    func read(_ order: ReadingRequest, _ roots: ConditionRoots) -> SystemReadings {
        state.change { $0.begun.append(order.needs) }
        state.wait(until: nil) { $0.hanging.isDisjoint(with: order.needs) ? () : nil }
        return SystemReadings.read(order, in: roots)
    }

    func hang(_ kinds: ConditionSet) { state.change { $0.hanging = kinds } }

    func release() { state.change { $0.hanging = [] } }

    func begun(_ need: ConditionSet) -> Int { state.withLock { $0.begun.count { $0 == need } } }
}

/// A *sensor* is the source of a condition, such as power or heat. A thread reads the sensor's files. A sensor *hangs*
/// while a read of these files does not return. A *listing* is one reading of all conditions.
@Suite("Sensors that hang")
struct HangingSensorTests {
    let tree = ConditionsWatchTests.laptop()
    private let system = HangingSystem(.heat)

    private func harness(interval: Int64 = 30_000) throws -> WatchHarness {
        try WatchHarness(tree, interval: interval, readSystem: { [system] in system.read($0, $1) })
    }

    @Test("a sensor that hangs does not delay the reading of other sensors")
    func others() async throws {
        let harness = try harness(interval: 50)
        defer {
            system.release()
            harness.stop()
        }
        await harness.need([.power, .heat, .cpuPressure])
        await harness.until { $0.externalPower.value == true && $0.cpuPressurePercent.value == 0 }
        tree.replace("pressure/cpu", "some avg10=42.00 avg60=0.00 avg300=0.00 total=0")
        await harness.until { $0.cpuPressurePercent.value == 42 }
        #expect(system.begun(.heat) == 1)
    }

    @Test("listings of conditions do not wait for a sensor that is known to hang, and do not read the sensor again")
    func listings() async throws {
        let harness = try harness()
        defer {
            system.release()
            harness.stop()
        }
        for _ in 0..<3 {
            let conditions = await harness.readAll()
            #expect(conditions.batteryPercent.value == 80)
            #expect(conditions.thermalState == Reading(source: "it has not replied within two seconds"))
        }
        #expect(system.begun(.heat) == 1)
        #expect(await harness.onLoop { $0.watch?.readers.reader == nil })
    }

    @Test("when the reading of a sensor arrives late, the reading is used, and the sensor's thread ends")
    func late() async throws {
        let harness = try harness(interval: 50)
        defer { harness.stop() }
        await harness.need([.power, .heat])
        await harness.until { $0.externalPower.value == true }
        system.release()
        await harness.until { $0.thermalState.value == .nominal }
        #expect(await harness.onLoop { $0.watch?.readers.stuck } == [])
    }

    @Test("if a sensor hangs after its first reading, the sensor's condition becomes unknown after ten seconds")
    func unknown() async throws {
        system.release()
        let harness = try harness(interval: 50)
        await harness.need(.heat)
        await harness.until { $0.thermalState.value == .nominal }
        system.hang(.heat)
        defer {
            system.release()
            harness.stop()
        }
        let conditions = await harness.until { $0.thermalState.value == nil }
        #expect(conditions.thermalState.source == "it has not replied for ten seconds")
    }
}
