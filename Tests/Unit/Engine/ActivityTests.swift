import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Activities of an engine")
struct ActivityTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    private func activity(_ identifier: String, in milliseconds: Int64, _ request: Request? = nil) -> Activity {
        var activity = Activity(identifier: identifier, intervalMilliseconds: 86_400_000)
        activity.qualityOfService = .userInitiated
        activity.firstMilliseconds = Clock.wallMilliseconds + milliseconds
        activity.request = request
        return activity
    }

    private func request(_ name: String, _ change: (inout Constraints) -> Void = { _ in }) throws -> Request {
        var request = try store.request(origin.url("/\(name)"), name)
        request.ifExists = .replace
        change(&request.options.policy.constraints)
        return request
    }

    @Test("a task waits for its constraints even if an activity with the same constraints was stored before")
    func constraints() throws {
        origin.serve("/a", .init(bytes: pattern(1_000)))
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let request = try request("a") { $0.requiresExternalPower = true }
        _ = try reply(host.session.submit { .setActivity($0, activity("sync", in: 36_000_000, request)) })
        let task = try host.enqueue(request)[0]
        _ = try host.waits(task, for: .power)
        #expect(origin.requests.isEmpty)
    }

    @Test("if an activity cannot start because another task has the same destination, other activities still start")
    func failing() throws {
        let engine = try FakeConditionsEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        let held = try host.enqueue(request("a") { $0.requiresExternalPower = true })[0]
        _ = try host.waits(held, for: .power)
        let blocked = try activity("blocked", in: 0, request("a"))
        _ = try reply(host.session.submit { .setActivity($0, blocked) })
        _ = try reply(host.session.submit { .setActivity($0, activity("other", in: 1_500)) })
        let events = try reply(
            host.session.poll(after: .zero, maximum: 1, until: .ofTests))
        guard case .events(let found, _) = events else { throw Unexpected() }
        #expect(found.map(\.kind) == [.activity("other")])
    }
}
