import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

/// Tasks that wait for the same reason may share one record. A record is *open* until its wait ends.
@Suite("Wait records")
struct WaitRecordTests {
    let store: TestStore
    /// A multicast address: the kernel cannot connect to it, and reports no route.
    private let nowhere = "http://224.0.0.1"

    init() throws { store = try TestStore() }

    private func waits(_ host: TestSession, _ task: TaskID) throws -> [WaitRecord] {
        let waits = try waitRecords(of: task, in: host.session)
        return waits
    }

    @Test("a new task does not get the wait record of a task that was cancelled earlier")
    func cancelled() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let first = try host.enqueue(store.request(nowhere + "/a", "a"))[0]
        _ = try host.waits(first, for: .connectivity)
        _ = try reply(host.session.control(.cancel, TaskSelection()))
        var request = try store.request(nowhere + "/b", "b")
        request.options.policy.constraints.requiresExternalPower = true
        let second = try host.enqueue(request)[0]
        _ = try host.waits(second, for: .power)
        #expect(try waits(host, second).map(\.reason) == [.power])
    }

    @Test("a cancelled task does not end the wait record of other tasks without a route")
    func oneOfTwo() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let tasks = try host.enqueue(store.request(nowhere + "/a", "a"), store.request(nowhere + "/b", "b"))
        for task in tasks { _ = try host.waits(task, for: .connectivity) }
        _ = try reply(host.session.control(.cancel, TaskSelection(ids: [tasks[0]])))
        _ = try host.waits(tasks[1], for: .connectivity)
        #expect(try waits(host, tasks[1]).map(\.endedMilliseconds) == [nil])
    }

    @Test("if a task without a route must then wait for the battery, only its wait record for the battery is open")
    func held() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.minimumBatteryPercent = 50 })
        let task = try host.enqueue(store.request(nowhere + "/a", "a"))[0]
        _ = try host.waits(task, for: .connectivity)
        engine.setConditions {
            $0.unplug()
            $0.batteryPercent = Reading(30, source: "test")
        }
        _ = try reply(host.session.control(.resume, TaskSelection()))
        _ = try host.waits(task, for: .battery)
        #expect(
            waitUntil {
                (try? waits(host, task).filter { $0.endedMilliseconds == nil }.map(\.reason)) == [.battery]
            })
    }

    @Test("a suspended task has no open wait record for its budget")
    func suspended() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.budget.daily = 1_000
        let host = try engine.session(configuration)
        var request = try store.request("http://192.0.2.77/a", "a")
        request.options.expectedBytesReceived = 500_000
        let task = try host.enqueue(request)[0]
        _ = try host.waits(task, for: .budget)
        _ = try reply(host.session.control(.suspend, TaskSelection()))
        _ = try host.waits(task, for: .suspended)
        #expect(
            waitUntil {
                (try? waits(host, task).filter { $0.endedMilliseconds == nil }.map(\.reason)) == [.suspended]
            })
    }
}
