import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import Glibc
import Testing

@testable import BackhaulClient

@Suite("The engines of a process")
struct LocalEnginesTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    @Test("if an engine of this process fails to start, a client with a daemon does not start one in this process")
    func failedStart() throws {
        mkdir(store.store, 0o700)
        // An engine cannot start, because the path of its socket is a directory.
        mkdir(store.store + "/engine.socket", 0o700)
        let directory = try StoreDirectory.open(path: store.store)
        let engines = LocalEngines()
        let hasEnded = Lock(false)
        let thread = try Thread(name: "start") {
            for _ in 0..<20 { _ = try? engines.lease(directory) }
            hasEnded.withLock { $0 = true }
        }
        // Most of these calls wait for an engine that is starting. A call that started an engine would throw.
        while !hasEnded.withLock({ $0 }) {
            let lease = try engines.existingLease(directory)
            #expect(lease == nil)
        }
        thread.join()
    }
}
