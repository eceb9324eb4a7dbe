import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import Glibc
import Testing

@Suite("An engine that has started can be reached")
struct EngineStartTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func engine() throws -> Engine {
        let directory = try StoreDirectory.open(path: store.store)
        return try Engine(directory: directory, lock: #require(try directory.acquireLock()), ended: { _ in })
    }

    @Test("the store's socket accepts a connection as soon as the engine exists")
    func socket() throws {
        let engine = try engine()
        defer { engine.stop() }
        _ = try Peer(store.store)
    }

    @Test("an engine is not made if its socket cannot be made, and the error names the reason")
    func noSocket() throws {
        mkdir(store.store, 0o700)
        mkdir(store.store + "/engine.socket", 0o700)
        let failure = #expect(throws: Failure.self) { try engine() }
        #expect(failure?.message.contains("has a directory engine.socket; remove it") == true)
    }

    @Test("each call that stops an engine returns after the engine has released its store")
    func twoStops() throws {
        let engine = try engine()
        let other = try Thread(name: "stop") { engine.stop() }
        engine.stop()
        let lock = try StoreDirectory.open(path: store.store).acquireLock()
        #expect(lock != nil)
        other.join()
    }
}
