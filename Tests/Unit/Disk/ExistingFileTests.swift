@testable import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

@Suite("An existing file at the destination")
struct ExistingFileTests {
    let scratch: Scratch
    let faults = FaultPlan()
    let threads: DiskThreads
    private let bytes = pattern(9_000_000)

    init() throws {
        scratch = try Scratch()
        var files = FileSystem()
        files.faults = faults
        threads = try DiskThreads(count: 1, files: files)
        try write(bytes, to: scratch.path("file"))
    }

    private func find(
        _ name: String = "file", size: UInt64? = nil, _ algorithm: Checksum.Algorithm? = nil
    ) async throws -> DestinationFile? {
        let destination = try DestinationCheck.check(path: scratch.path(name), ifExists: .replace)
        return try await result { threads.find(destination, size: size, algorithm, then: $0) }.get()
    }

    @Test("an existing file is found with its size and digest, and the file and its directory are synced")
    func found() async throws {
        let digester = try Digester(.sha256)
        try digester.add(bytes[...])
        let checksum = try digester.finish()
        #expect(try await find(size: 9_000_000, .sha256) == DestinationFile(size: 9_000_000, checksum: checksum))
        #expect(faults.operations.filter { $0 == .read }.count == 3)
        #expect(faults.operations.contains(.sync) && faults.operations.contains(.syncDirectory))
        #expect(try await find(size: 9_000_000) == DestinationFile(size: 9_000_000))
    }

    @Test("an existing file is not read if its size differs from the expected size")
    func otherSize() async throws {
        #expect(try await find(size: 9_000_001, .sha256) == nil)
        #expect(!faults.operations.contains(.read))
    }

    @Test("no existing file is found if the path is free, or is a link, or is a file that cannot be opened")
    func none() async throws {
        #expect(try await find("nothing", .sha256) == nil)
        symlink(scratch.path("file"), scratch.path("link"))
        #expect(try await find("link", .sha256) == nil)
        faults.fail(.open, with: EACCES)
        #expect(try await find(size: nil, .sha256) == nil)
    }

    @Test(
        "the search for an existing file fails with `diskFailed` if the file cannot be found, opened or read",
        arguments: [(FileOperation.status, 1), (.open, 0), (.read, 0)])
    func broken(_ operation: FileOperation, callsBefore: Int) async throws {
        faults.fail(operation, after: callsBefore, with: EIO)
        #expect(await status { _ = try await find(size: nil, .sha256) } == .diskFailed)
    }

    @Test(
        "an existing file counts as missing if it or its directory cannot be synced, and the sync is not repeated",
        arguments: [FileOperation.sync, .syncDirectory])
    func unsynced(_ operation: FileOperation) async throws {
        faults.fail(operation, with: EIO)
        #expect(try await find(size: 9_000_000, .sha256) == nil)
        #expect(faults.operations.count { $0 == operation } == 1)
    }

    @Test("an existing file counts as unchanged only if its inode, size and time of modification are the same")
    func stamp() async throws {
        let destination = try DestinationCheck.check(path: scratch.path("new"), ifExists: .replace)
        let part = threads.partFile(try scratch.location("new"))
        let stamp = try await part.place(part.seal([1, 2, 3]))
        func isSame() async throws -> Bool {
            try await result { threads.inspect(destination, for: stamp, then: $0) }.get()
        }
        #expect(try await isSame())
        chmod(scratch.path("new"), 0o600)
        #expect(try await isSame())
        try write([1, 2, 4], to: scratch.path("new"))
        #expect(try await !isSame())
        unlink(scratch.path("new"))
        #expect(try await !isSame())
    }
}
