import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

@Suite("Returned consumed files")
struct BodyReturnTests {
    let home: Scratch
    let store: Scratch
    let threads: DiskThreads
    let bytes = pattern(9_000_000)

    init() throws {
        home = try Scratch()
        store = try Scratch()
        threads = try DiskThreads(count: 2)
    }

    private func consume(_ path: String, as name: String = "c") async throws {
        try write(bytes, to: path)
        chmod(path, 0o640)
        let open = try FileSystem().openToSend(path)
        try withExtendedLifetime(open) {
            try FileSystem().changeModificationTime(open.number, nanoseconds: 1_000_000_000_000_000_123)
        }
        let file = try BodyCheck.check(path: path)
        _ = try await result {
            threads.ingest([IngestedBody(file, .consume, name: name)], in: store.path, forbidden: [], then: $0)
        }.get()
        await withCheckedContinuation { continuation in threads.removeConsumed([file]) { _ in continuation.resume() } }
    }

    private func returnBodies(
        _ path: String, _ name: String = "c", on threads: DiskThreads? = nil
    ) async -> Failure? {
        let body = ReturnedBody(name: name, path: path, task: TaskID(rawValue: 7))
        return await withCheckedContinuation { continuation in
            (threads ?? self.threads).returnBodies([body], from: store.path) {
                continuation.resume(returning: $0.first?.failure)
            }
        }
    }

    /// Whether the file has its original content, permissions and time of modification.
    private func isAsBefore(_ path: String) throws -> Bool {
        let status = try FileSystem().status(of: path)
        return contents(path) == bytes && status?.mode == 0o640
            && status?.modifiedNanoseconds == 1_000_000_000_000_000_123
    }

    @Test("a returned file has its original path, content and attributes")
    func returned() async throws {
        try await consume(home.path("a"))
        #expect(await returnBodies(home.path("a")) == nil)
        #expect(try isAsBefore(home.path("a")))
        #expect(store.names() == [] && home.names() == ["a"])
    }

    @Test("a returned file gets another name if its name is taken, and stays in the store if both names are taken")
    func taken() async throws {
        try await consume(home.path("a"))
        try write([9], to: home.path("a"))
        #expect(await returnBodies(home.path("a")) == nil)
        #expect(contents(home.path("a")) == [9])
        #expect(try isAsBefore(home.path("a.~7")))
        rename(home.path("a"), home.path("b"))
        try await consume(home.path("a"))
        try write([9], to: home.path("a"))
        #expect(await returnBodies(home.path("a")) != nil)
        #expect(contents(home.path("a")) == [9] && contents(store.path("c")) == bytes)
    }

    @Test("a file that must be returned stays in the store while its original directory is missing")
    func directoryGone() async throws {
        mkdir(home.path("in"), 0o700)
        try await consume(home.path("in/a"))
        rmdir(home.path("in"))
        #expect(await returnBodies(home.path("in/a")) != nil)
        #expect(contents(store.path("c")) == bytes)
        mkdir(home.path("in"), 0o700)
        #expect(await returnBodies(home.path("in/a")) == nil)
        #expect(try isAsBefore(home.path("in/a")))
    }

    @Test("a return succeeds if a crash has left the file both in the store and at its path, or only at its path")
    func repeated() async throws {
        try await consume(home.path("a"))
        link(store.path("c"), home.path("a"))
        #expect(await returnBodies(home.path("a")) == nil)
        #expect(store.names() == [] && home.names() == ["a"])
        #expect(await returnBodies(home.path("a")) == nil)
        #expect(try isAsBefore(home.path("a")))
    }

    @Test(
        "a file that is returned to another file system is copied only once, even after a crash",
        .enabled(if: Mount.isPossible, "mounting a tmpfs needs root"))
    func otherFileSystem() async throws {
        let disk = try Mount(size: "32m")
        let path = disk.scratch.path("a")
        try await consume(path)
        #expect(try isAsBefore(store.path("c")))
        link(store.path("c"), store.path("again"))
        #expect(await returnBodies(path) == nil)
        #expect(try isAsBefore(path))
        // Now both files exist, as after a crash between the copy and the removal of the file in the store.
        #expect(await returnBodies(path, "again") == nil)
        #expect(disk.scratch.names() == ["a"] && store.names() == [])
        // A file with the same content but another time of modification counts as another file.
        try await consume(disk.scratch.path("b"))
        try write(bytes, to: disk.scratch.path("b"))
        #expect(await returnBodies(disk.scratch.path("b")) == nil)
        #expect(try isAsBefore(disk.scratch.path("b.~7")))
    }

    @Test(
        "if the copy of a file that must be returned fails, the whole file stays in the store",
        .enabled(if: Mount.isPossible, "mounting a tmpfs needs root"))
    func copyFails() async throws {
        let disk = try Mount(size: "12m")
        let path = disk.scratch.path("a")
        try await consume(path)
        disk.waitUntilEmpty()
        try write(pattern(8_000_000), to: disk.scratch.path("full"))
        #expect(await returnBodies(path) != nil)
        #expect(disk.scratch.names() == ["full"] && contents(store.path("c")) == bytes)
        unlink(disk.scratch.path("full"))
        #expect(await returnBodies(path) == nil)
        #expect(try isAsBefore(path))
    }

    #if DEBUG
    private func newThreads(_ faults: FaultPlan) throws -> DiskThreads {
        var files = FileSystem()
        files.faults = faults
        return try DiskThreads(count: 1, files: files)
    }

    @Test("a file that is not in the store any more counts as returned only after both directories are synced")
    func repeatedSyncs() async throws {
        let faults = FaultPlan()
        let threads = try newThreads(faults)
        try await consume(home.path("a"))
        #expect(await returnBodies(home.path("a"), on: threads) == nil)
        // The first opened directory is the store, and the second one is the directory of the file.
        faults.fail(.openDirectory, after: 1, with: EMFILE)
        #expect(await returnBodies(home.path("a"), on: threads)?.status == .outOfResources)
        #expect(await returnBodies(home.path("a"), on: threads) == nil)
        #expect(faults.operations.suffix(2) == [.syncDirectory, .syncDirectory])
        // A missing directory needs no sync.
        #expect(await returnBodies(home.path("in/a"), on: threads) == nil)
        #expect(faults.operations.suffix(2) == [.openDirectory, .syncDirectory])
        // Neither does a directory that this user cannot reach any more.
        for code in [EACCES, ELOOP] {
            faults.fail(.openDirectory, after: 1, with: code)
            #expect(await returnBodies(home.path("a"), on: threads) == nil)
            #expect(faults.operations.suffix(2) == [.openDirectory, .syncDirectory])
        }
    }

    @Test(
        "an identical file on another file system is synced before the file in the store is removed",
        .enabled(if: Mount.isPossible, "mounting a tmpfs needs root"))
    func identicalFile() async throws {
        let disk = try Mount(size: "32m")
        let path = disk.scratch.path("a")
        try await consume(path)
        link(store.path("c"), store.path("again"))
        #expect(await returnBodies(path) == nil)
        let faults = FaultPlan()
        let threads = try newThreads(faults)
        faults.fail(.sync, with: EIO)
        #expect(await returnBodies(path, "again", on: threads)?.status == .diskFailed)
        #expect(contents(store.path("again")) == bytes)
        #expect(await returnBodies(path, "again", on: threads) == nil)
        #expect(disk.scratch.names() == ["a"] && store.names() == [])
    }
    #endif
}
