import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

/// The kernel reports a new network earlier than NetworkManager does. The network is *unknown* until NetworkManager has
/// identified the network.
@Suite("Budgets of networks", .enabled(if: TestOrigin.address != nil, "an address other than 127.0.0.1 exists"))
struct BudgetTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
    }

    private func used(_ host: TestSession) throws -> [String: UInt64] {
        guard case .networks(let networks) = try reply(host.application.submit(.networks)) else { throw Unexpected() }
        return Dictionary(uniqueKeysWithValues: networks.map { ($0.settings.name, $0.usedToday) })
    }

    private func session(_ engine: FakeConditionsEngine, daily: UInt64) throws -> TestSession {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.budget.daily = daily
        return try engine.session(configuration)
    }

    @Test("bytes of transfers that start on an unknown network count for the network that is identified later")
    func settled() throws {
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try session(engine, daily: 100_000)
        var last: TaskID?
        for name in ["a", "b", "c"] {
            origin.serve("/\(name)", .init(bytes: pattern(50_000)))
            engine.setConditions(pending: .network) {
                $0.network = Reading(
                    Network(name: "d0", kind: .wifi), source: "test")
            }
            let task = try host.enqueue(store.request(origin.url("/\(name)"), name))[0]
            engine.setConditions { $0 = .pluggedIn }
            if name != "c" { #expect(waitUntil { (try? host.info(task).state) == .succeeded }, "\(name)") }
            last = task
        }
        _ = try host.waits(#require(last), for: .budget)
        #expect(try used(host) == ["Home": 100_000])
    }

    @Test("bytes that were transferred before a change of network count for the earlier network")
    func change() throws {
        origin.serve("/a", .init(bytes: pattern(40_000)))
        origin.serve("/b", .init(bytes: pattern(30_000)))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try session(engine, daily: 10_000_000)
        let first = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        #expect(waitUntil { (try? host.info(first).state) == .succeeded })
        engine.setConditions { $0.network = Reading(Network(name: "Phone", kind: .cellular), source: "test") }
        let second = try host.enqueue(store.request(origin.url("/b"), "b"))[0]
        #expect(waitUntil { (try? host.info(second).state) == .succeeded })
        #expect(try used(host) == ["Home": 40_000, "Phone": 30_000])
    }

    @Test("a fast transfer exceeds its budget by one chunk at most")
    func exact() throws {
        origin.serve("/a", .init(bytes: pattern(20_000_000), entityTag: "\"1\""))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try session(engine, daily: 2_000_000)
        let task = try host.enqueue(store.request(origin.url("/a"), "a"))[0]
        let info = try host.waits(task, for: .budget)
        #expect(info.state == .waiting)
        #expect(info.offset >= 2_000_000 && info.offset <= 2_000_000 + (16 << 10), "\(info.offset)")
    }
}
