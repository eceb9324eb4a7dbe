import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("What tasks are said to have waited for")
struct WaitRowTests {
    let store: TestStore
    /// Nobody connects to many machines at once: the kernel has no way there.
    private let nowhere = "http://224.0.0.1"

    init() throws { store = try TestStore() }

    private func waits(_ host: ToldSession, _ task: TaskID) throws -> [Wait] {
        guard case .waits(let waits) = try answer(host.session.waits(task)) else { throw Unexpected() }
        return waits
    }

    @Test("a task that is too large for a budget does not wait for it while it is suspended")
    func suspended() throws {
        let engine = try ToldEngine(store)
        defer { engine.stop() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.budget.daily = 1_000
        let host = try engine.session(configuration)
        var request = try store.request("http://192.0.2.77/a", "a")
        request.options.expectedBytesReceived = 500_000
        let task = try host.enqueue(request)[0]
        _ = try host.waits(task, for: .budget)
        _ = try answer(host.session.control(.suspend, TaskSelection()))
        _ = try host.waits(task, for: .suspended)
        #expect(waitUntil {
            (try? waits(host, task).filter { $0.endedMilliseconds == nil }.map(\.reason)) == [.suspended]
        })
    }
}
