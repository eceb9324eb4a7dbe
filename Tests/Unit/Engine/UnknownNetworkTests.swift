import BackhaulClient
import BackhaulEngine
import BackhaulModel
import Testing

/// The kernel reports a new network earlier than NetworkManager does. The network is *unknown* until NetworkManager has
/// identified the network.
@Suite("An unknown network", .enabled(if: TestOrigin.address != nil, "the machine has an address other than 127.0.0.1"))
struct UnknownNetworkTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin(address: TestOrigin.address ?? "127.0.0.1")
    }

    @Test("on an unknown network, running tasks continue, and no task that requires an unmetered network starts")
    func unknownNetwork() throws {
        let bytes = pattern(4_000_000)
        origin.serve("/a", .init(bytes: bytes, entityTag: "\"1\"", bytesPerSecond: 2_000_000))
        for path in ["/b", "/c"] { origin.serve(path, .init(bytes: pattern(1_000))) }
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { $0.requiresUnmetered = true })
        _ = try host.enqueue(store.request(origin.url("/a"), "a"))
        #expect(waitUntil { !origin.requests("/a").isEmpty })
        engine.setConditions(pending: .network) {
            $0.network = Reading(Network(name: "wlan0", kind: .wifi), source: "test")
            $0.isMetered = Reading(source: "test")
        }
        _ = try host.enqueue(store.request(origin.url("/b"), "b"))
        let other = try engine.session(.named("other") { _ in })
        let third = try other.enqueue(store.request(origin.url("/c"), "c"))[0]
        #expect(waitUntil { (try? other.info(third).state) == .succeeded })
        #expect(origin.requests("/b").isEmpty)
        engine.setConditions { $0 = .pluggedIn }
        let events = try eventsOfRound(host.session)
        #expect(events.compactMap(ended).map(\.outcome.state) == [.succeeded, .succeeded])
        #expect(origin.requests("/a").count == 1)
    }
}
