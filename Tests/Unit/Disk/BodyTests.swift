import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

@Suite("Files of request bodies")
struct BodyTests {
    let home: Scratch
    let store: Scratch
    let threads: DiskThreads
    let bytes = pattern(3_000_000)

    init() throws {
        home = try Scratch()
        store = try Scratch()
        threads = try DiskThreads(count: 2)
    }

    private func file(_ name: String = "a", _ content: [UInt8]? = nil) throws -> BodyFile {
        try write(content ?? bytes, to: home.path(name))
        return try BodyCheck.check(path: home.path(name))
    }

    private func read(_ reader: BodyReader, _ offset: UInt64, _ count: Int) async throws -> [UInt8] {
        try await result { reader.read(at: offset, count: count, then: $0) }.get()
    }

    private func ingest(_ bodies: [IngestedBody], forbidden: [FileIdentity] = []) async throws -> [BodyFile] {
        try await result { threads.ingest(bodies, in: store.path, forbidden: forbidden, then: $0) }.get()
    }

    private func remove(_ file: BodyFile) async { _ = await removeConsumed(file, on: threads) }

    private func removeConsumed(_ file: BodyFile, on threads: DiskThreads) async -> [BodyFile] {
        await withCheckedContinuation { done in threads.removeConsumed([file]) { done.resume(returning: $0) } }
    }

    @Test("a body file is read in blocks, even if its path is a symbolic link")
    func blocks() async throws {
        _ = try file()
        symlink(home.path("a"), home.path("link"))
        let reader = threads.bodyReader(try BodyCheck.check(path: home.path("link")), at: home.path("link"))
        #expect(try await read(reader, 0, 1_000_000) == Array(bytes[..<1_000_000]))
        #expect(try await read(reader, 1_000_000, 2_000_000) == Array(bytes[1_000_000...]))
    }

    @Test("if a body file was changed after the first read, the read of the remaining bytes fails")
    func changed() async throws {
        let reader = threads.bodyReader(try file(), at: home.path("a"))
        _ = try await read(reader, 0, 1_000_000)
        try write(bytes, to: home.path("a"))
        #expect(await status { _ = try await read(reader, 1_000_000, 2_000_000) } == .bodyChanged)
    }

    @Test("a body file that was just written is first read when each further change gets another time")
    func tick() async throws {
        let file = try file()
        _ = try await read(threads.bodyReader(file, at: home.path("a")), 0, 1)
        #expect(Clock.wallMilliseconds - file.modifiedNanoseconds / 1_000_000 >= 10)
    }

    @Test("a body file is read to its end even if another file has taken its name")
    func replaced() async throws {
        let reader = threads.bodyReader(try file(), at: home.path("a"))
        _ = try await read(reader, 0, 1_000_000)
        try write([1], to: home.path("b"))
        rename(home.path("b"), home.path("a"))
        #expect(try await read(reader, 1_000_000, 2_000_000) == Array(bytes[1_000_000...]))
    }

    @Test("if a directory has replaced a body file, the read reports that the file was changed")
    func directory() async throws {
        let reader = threads.bodyReader(try file(), at: home.path("a"))
        unlink(home.path("a"))
        mkdir(home.path("a"), 0o700)
        #expect(await status { _ = try await read(reader, 0, 1_000_000) } == .bodyChanged)
    }

    @Test("even an empty body file is checked for changes")
    func empty() async throws {
        let file = try file("a", [])
        let reader = threads.bodyReader(file, at: home.path("a"))
        #expect(try await read(reader, 0, 0) == [])
        try write([1], to: home.path("a"))
        #expect(await status { _ = try await read(reader, 0, 0) } == .bodyChanged)
    }

    @Test("a snapshot of a body file is a copy of the file in the store")
    func snapshot() async throws {
        let file = try file()
        let kept = try await ingest([IngestedBody(file, .snapshot, name: "s")])
        #expect(kept.map(\.storedName) == ["s"])
        let status = try #require(try FileSystem().status(of: store.path("s")))
        #expect(kept[0].isSame(as: status))
        #expect(contents(store.path("s")) == bytes && contents(home.path("a")) == bytes)
        #expect(permissions(store.path("s")) == 0o600)
    }

    @Test("a consumed file gets a hard link in the store before its original name is removed")
    func consumed() async throws {
        let file = try file()
        let kept = try await ingest([IngestedBody(file, .consume, name: "c")])
        #expect(kept.map(\.inode) == [file.inode])
        #expect(contents(home.path("a")) == bytes && contents(store.path("c")) == bytes)
        await remove(file)
        #expect(home.names() == [] && contents(store.path("c")) == bytes)
    }

    @Test("the original name of a consumed file is not removed if another file has taken that name")
    func takenName() async throws {
        let file = try file()
        _ = try await ingest([IngestedBody(file, .consume, name: "c")])
        unlink(home.path("a"))
        try write([9], to: home.path("a"))
        await remove(file)
        #expect(contents(home.path("a")) == [9])
    }

    @Test(
        "a consumed file is copied if the file and the store are on different file systems",
        .enabled(if: Mount.isPossible, "mounting a tmpfs needs root"))
    func otherFileSystem() async throws {
        let disk = try Mount(size: "8m")
        try write(bytes, to: disk.scratch.path("a"))
        let file = try BodyCheck.check(path: disk.scratch.path("a"))
        let kept = try await ingest([IngestedBody(file, .consume, name: "c")])
        #expect(contents(store.path("c")) == bytes && kept[0].inode == 0)
        await remove(file)
        #expect(disk.scratch.names() == [])
    }

    @Test("if one of several body files has changed, the failure has that file's index, and none of them is stored")
    func refused() async throws {
        let first = try file("a")
        let second = try file("b")
        try write([1], to: home.path("b"))
        let failure = await #expect(throws: Failure.self) {
            try await ingest([IngestedBody(first, .consume, name: "1"), IngestedBody(second, .snapshot, name: "2")])
        }
        #expect(failure?.status == .bodyChanged && failure?.index == 1)
        _ = try await result { threads.remove(path: store.path("absent"), then: $0) }.get()
        #expect(eventually { store.names() == [] })
        #expect(contents(home.path("a")) == bytes)
    }

    @Test("a file in the store's directory is not consumed")
    func forbidden() async throws {
        try write([1], to: store.path("database"))
        let file = try BodyCheck.check(path: store.path("database"))
        let folder = try #require(FileIdentity(at: store.path))
        #expect(
            await status {
                _ = try await ingest([IngestedBody(file, .consume, name: "c")], forbidden: [folder])
            } == .bodyUnavailable)
        #expect(store.names() == ["database"])
    }

    #if DEBUG
    @Test(
        "a body file is unavailable only if the system refuses to read it; other errors are failures of the disk",
        arguments: [FileOperation.open, .read, .status],
        [(EIO, Status.diskFailed), (ETIMEDOUT, .storageAway), (EMFILE, .outOfResources), (EACCES, .bodyUnavailable)])
    func unreadable(_ operation: FileOperation, _ error: (code: Int32, status: Status)) async throws {
        let faults = FaultPlan()
        var files = FileSystem()
        files.faults = faults
        let threads = try DiskThreads(count: 1, files: files)
        let reader = threads.bodyReader(try file(), at: home.path("a"))
        faults.fail(operation, with: error.code)
        #expect(await status { _ = try await read(reader, 0, 10) } == error.status)
        #expect(try await read(reader, 0, 10) == Array(bytes[..<10]))
        threads.close()
    }

    @Test(
        "the copy of a body file into a full store fails with the status `storeFull`",
        arguments: [FileOperation.write, .create, .sync])
    func noSpace(_ operation: FileOperation) async throws {
        let faults = FaultPlan()
        var files = FileSystem()
        files.faults = faults
        let threads = try DiskThreads(count: 1, files: files)
        // The kernel's copy operations fail, so the file is copied with reads and writes.
        for _ in 0..<2 { faults.fail(.copy, with: EOPNOTSUPP) }
        faults.fail(operation, with: ENOSPC)
        let bodies = [IngestedBody(try file("a", [1, 2, 3]), .snapshot, name: "s")]
        let failure = await #expect(throws: Failure.self) {
            try await result { threads.ingest(bodies, in: store.path, forbidden: [], then: $0) }.get()
        }
        #expect(failure?.status == .storeFull)
        #expect(eventually { store.names() == [] })
    }

    @Test(
        "a file is not reported as consumed while its original name exists",
        arguments: [FileOperation.unlink, .openDirectory], [EIO, EMFILE])
    func stuckName(_ operation: FileOperation, _ code: Int32) async throws {
        let faults = FaultPlan()
        var files = FileSystem()
        files.faults = faults
        let threads = try DiskThreads(count: 1, files: files)
        let file = try file("a", [1, 2, 3])
        faults.fail(operation, with: code)
        #expect(await removeConsumed(file, on: threads) == [])
        #expect(home.names() == ["a"])
        #expect(await removeConsumed(file, on: threads) == [file])
        #expect(home.names() == [])
    }

    @Test("if the name of a consumed file is missing, the file is reported as consumed after its directory is synced")
    func unsyncedRemoval() async throws {
        let faults = FaultPlan()
        var files = FileSystem()
        files.faults = faults
        let threads = try DiskThreads(count: 1, files: files)
        let file = try file("a", [1, 2, 3])
        for _ in 0..<2 { faults.fail(.syncDirectory, with: EIO) }
        #expect(await removeConsumed(file, on: threads) == [])
        #expect(home.names() == [])
        #expect(await removeConsumed(file, on: threads) == [])
        #expect(await removeConsumed(file, on: threads) == [file])
    }
    #endif

    /// Waits until the condition is true. Returns false if the condition is still false after 20 seconds.
    private func eventually(_ condition: () -> Bool) -> Bool {
        let deadline = Deadline.after(milliseconds: 20_000)
        while !deadline.hasPassed {
            if condition() { return true }
            usleep(1_000)
        }
        return false
    }
}
