import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

/// The host sends the path to the engine, together with the device and inode of the directory that the host sees at
/// this path.
@Suite("Destinations that an engine in another process checks")
struct DestinationInspectionTests {
    let scratch: Scratch
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
    }

    private func inspect(_ destinations: [Destination]) -> Failure? {
        guard let result = identities(destinations) else { return Failure(.timeout, "no result") }
        return if case .failure(let failure) = result { failure } else { nil }
    }

    private func identities(_ destinations: [Destination]) -> Result<[String?], Failure>? {
        let result = Lock<Result<[String?], Failure>?>(nil)
        threads.inspect(destinations) { found in result.change { $0 = found } }
        return result.wait(until: .after(milliseconds: 10_000)) { $0 }
    }

    private func destination(in directory: String) throws -> Destination {
        mkdir(scratch.path(directory), 0o700)
        return try DestinationCheck.check(path: scratch.path(directory + "/file"), ifExists: .fail)
    }

    @Test("destination directories that both processes see are accepted, and an empty list is accepted")
    func same() throws {
        #expect(inspect([try destination(in: "a"), try destination(in: "b")]) == nil)
        #expect(inspect([]) == nil)
    }

    @Test("if the engine sees another directory at a path, the failure has the index of this destination in the list")
    func another() throws {
        var other = try destination(in: "b")
        other.directoryInode += 1
        let failure = inspect([try destination(in: "a"), other])
        #expect(failure?.status == .destinationUnavailable)
        #expect(failure?.index == 1)
        #expect(failure?.message.contains("mount namespace") == true)
    }

    @Test("devices that a host has invented get no threads, so later file systems still get their own")
    func inventedDevices() throws {
        var invented = try destination(in: "a")
        let workers = (1...40 as ClosedRange<UInt64>).map { number in
            invented.directoryDevice = .max - number
            return ObjectIdentifier(threads.metadataWorker(at: invented))
        }
        #expect(Set(workers).count == 1)
    }

    @Test("a file system that the engine sees gets its own threads, also for a path by way of another file system")
    func linkedFileSystem() throws {
        let direct = try destination(in: "a")
        var linked = direct
        linked.directoryDevice = try #require(FileIdentity(at: "/proc")).device
        #expect(threads.metadataWorker(at: linked) !== threads.metadataWorker(at: direct))
        #expect(threads.metadataWorker(at: linked) === threads.metadataWorker(at: linked))
    }

    @Test("the inspection returns the identity of each directory's file system")
    func fileSystems() throws {
        let found = try #require(identities([try destination(in: "a"), try destination(in: "b")])).get()
        #expect(found.count == 2 && found[0] == found[1])
        guard Mount.isPossible else { return }
        let mount = try Mount(size: "1m")
        let other = try DestinationCheck.check(path: mount.scratch.path("file"), ifExists: .fail)
        #expect(try #require(identities([other])).get().first.map { $0 != found[0] } == true)
    }

    #if DEBUG
    @Test("a destination is refused if its directory cannot be opened, because its file system would stay unknown")
    func unopened() async throws {
        var files = FileSystem()
        let faults = FaultPlan()
        files.faults = faults
        let threads = try DiskThreads(count: 1, files: files)
        let destinations = [try destination(in: "a"), try destination(in: "b")]
        faults.fail(.openDirectory, after: 1, with: EMFILE)
        let result = await result { threads.inspect(destinations, then: $0) }
        let failure = #expect(throws: Failure.self) { try result.get() }
        #expect(failure?.status == .outOfResources && failure?.index == 1)
        threads.close()
    }
    #endif

    @Test("a destination directory that only the host sees is unavailable")
    func absent() throws {
        let gone = try destination(in: "a")
        #expect(rmdir(scratch.path("a")) == 0)
        let failure = inspect([gone])
        #expect(failure?.status == .destinationUnavailable)
        #expect(failure?.detail == Int64(ENOENT))
        #expect(failure?.message.contains("mount namespace") == true)
    }
}
