import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Glibc
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

    @Test("a file that cannot be removed stays in the list, and the next sweep tries again to remove it")
    func stuck() async throws {
        let path = services.directory.bodyFile(named: "1-1")
        try services.directory.makeFolders()
        // unlink(2) removes no directory.
        #expect(mkdir(path, 0o700) == 0)
        bodies.sweep()
        try runtime.storeReturns(["1-1"])
        await takeDiskResults()
        // No file is forgotten: the manager reads the rest of the list.
        try #require(runtime.storeAwaits([String].self))
        try runtime.storeReturns([String]())
        #expect(!bodies.isBusy && runtime.pendingStoreCalls == 0)
        #expect(rmdir(path) == 0)
        bodies.sweep()
        try runtime.storeReturns(["1-1"])
        await takeDiskResults()
        #expect(runtime.storeAwaits(Void.self))
    }

    @Test("if a file becomes a leftover during a sweep, another sweep follows")
    func again() throws {
        bodies.sweep()
        bodies.sweep()
        try runtime.storeReturns([String]())
        #expect(bodies.isBusy && runtime.storeAwaits([String].self))
        try runtime.storeReturns([String]())
        #expect(!bodies.isBusy)
    }

    /// Takes the results of the removals. The disk returns them in their order.
    private func takeDiskResults() async {
        let absent = services.directory.bodyFile(named: "absent")
        await withCheckedContinuation { done in services.disk.remove([absent]) { _ in done.resume() } }
        runtime.takeReturned()
    }
}
