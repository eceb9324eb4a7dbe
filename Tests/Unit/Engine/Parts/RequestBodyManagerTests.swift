import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The manager of request bodies")
struct RequestBodyManagerTests {
    private let runtime = FakeRuntime()
    private let bodies: RequestBodyManager
    private let services: Services
    private let scratch: TestStore

    init() throws {
        scratch = try TestStore()
        let directory = try StoreDirectory.open(path: scratch.store)
        let lock = try #require(try directory.acquireLock())
        services = Services(
            store: try StoreThread(directory: directory, lock: lock, resolver: .none), disk: try DiskThreads(count: 1),
            directory: directory, mailbox: LoopMailbox(), options: .embedded)
        bodies = RequestBodyManager(runtime, services)
    }

    @Test("on a full disk, the files of a refused enqueue are discarded later")
    func discardsLater() throws {
        bodies.discardUnused(["1-1"])
        try runtime.storeReturns(Result<Void, Failure>.failure(Failure(.storeFull, "no space")))
        runtime.retry()
        #expect(runtime.storeAwaits(Void.self))
        try runtime.storeReturns(())
        // The next call finds the files to remove.
        #expect(runtime.storeAwaits([String].self))
    }
}
