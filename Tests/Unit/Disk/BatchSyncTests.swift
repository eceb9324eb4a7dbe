#if DEBUG
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

@Suite("The sync of a batch of new files")
struct BatchSyncTests {
    let scratch: Scratch
    let faults = FaultPlan()

    init() throws { scratch = try Scratch() }

    private func threads(dirty: UInt64? = 0, isSupported: Bool = true) throws -> DiskThreads {
        var files = FileSystem()
        files.faults = faults
        files.batchSync = BatchSyncSupport(isSupported: { _ in isSupported }, dirtyBytes: { dirty })
        return try DiskThreads(count: 1, files: files)
    }

    /// Writes one byte to each of these files, seals the files in one batch, and returns the results.
    private func seal(_ parts: [PartFile], on threads: DiskThreads) throws -> [Result<SealedFile, Failure>] {
        let results = Lock<[Result<SealedFile, Failure>]>([])
        let blocker = Lock((isRunning: false, isReleased: false))
        let limit = timeLimit
        threads.remove(path: scratch.path("absent")) { _ in
            blocker.change { $0.isRunning = true }
            _ = blocker.wait(until: limit) { $0.isReleased ? () : nil }
        }
        _ = blocker.wait(until: timeLimit) { $0.isRunning ? () : nil }
        for part in parts { part.seal([1], expected: nil) { result in results.change { $0.append(result) } } }
        blocker.change { $0.isReleased = true }
        return try #require(results.wait(until: timeLimit) { $0.count == parts.count ? $0 : nil })
    }

    private func newParts(_ count: Int, on threads: DiskThreads) throws -> [PartFile] {
        try (0..<count).map { threads.partFile(try scratch.location("file\($0)")) }
    }

    private func count(_ operation: FileOperation) -> Int { faults.operations.count { $0 == operation } }

    /// A time limit that only a defect can exceed.
    private var timeLimit: Deadline { .after(milliseconds: 30_000) }

    @Test("a batch of four new files is written first, and then one call syncs all four files")
    func together() throws {
        let threads = try threads()
        let results = try seal(newParts(4, on: threads), on: threads)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        let steps: Set<FileOperation> = [.write, .startWriteBack, .sync, .syncFileSystem]
        #expect(faults.operations.filter(steps.contains) == [.write, .write, .write, .write, .syncFileSystem])
    }

    @Test("after an error of the common sync, each file of the batch is synced separately")
    func failedSync() throws {
        let threads = try threads()
        faults.fail(.syncFileSystem, with: EIO)
        faults.fail(.sync, after: 1, with: EIO)
        let results = try seal(newParts(4, on: threads), on: threads)
        #expect(results.map { (try? $0.get()) != nil } == [true, false, true, true])
        #expect((count(.syncFileSystem), count(.sync)) == (1, 4))
    }

    @Test(
        "each file is synced separately if the batch is small, or if the common sync is expensive or unreliable",
        arguments: [
            (files: 3, dirty: UInt64?(0), isSupported: true), (4, BatchSyncDecision.upperLimit + 5, true),
            (4, nil, true), (4, 0, false),
        ])
    func separately(files: Int, dirty: UInt64?, isSupported: Bool) throws {
        let threads = try threads(dirty: dirty, isSupported: isSupported)
        let results = try seal(newParts(files, on: threads), on: threads)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect((count(.syncFileSystem), count(.sync)) == (0, files))
    }

    @Test("a file that was written in several steps is synced separately from a batch of new files")
    func continuedFile() async throws {
        let threads = try threads()
        let continued = threads.partFile(try scratch.location("continued"))
        _ = await result { continued.append([1], then: $0) }
        let results = try seal([continued] + newParts(4, on: threads), on: threads)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect((count(.syncFileSystem), count(.sync)) == (1, 1))
    }

    @Test("many dirty pages of other files stop the common sync until the number of dirty pages falls to a lower limit")
    func hysteresis() {
        var decision = BatchSyncDecision()
        let (lower, upper) = (BatchSyncDecision.lowerLimit, BatchSyncDecision.upperLimit)
        let used = [lower + 1, upper, upper + 1, upper, lower + 1, lower, upper].map {
            decision.syncsTogether(files: 4, bytes: 100, dirty: $0 + 100)
        }
        #expect(used == [true, true, false, false, false, true, true])
    }

    @Test("the size of the dirty pages is read from the line `Dirty` of /proc/meminfo")
    func dirtyPages() {
        let text = "MemFree:  5 kB\nDirty:               123 kB\nWriteback:   9 kB\n"
        #expect(BatchSyncSupport.dirtyBytes(in: Array(text.utf8)[...]) == 123 * 1_024)
        #expect(BatchSyncSupport.dirtyBytes(in: Array("Dirty:".utf8)[...]) == nil)
        #expect(BatchSyncSupport().dirtyBytes() != nil)
    }

    @Test(
        "syncfs(2) reports errors since Linux 5.8",
        arguments: [
            ("5.7.19", false), ("5.8.0-rc1", true), ("5.10", true), ("6.1.0-18-amd64", true), ("unknown", false),
        ])
    func kernels(release: String, isReliable: Bool) {
        #expect(BatchSyncSupport.isReliable(release) == isReliable)
    }
}
#endif
