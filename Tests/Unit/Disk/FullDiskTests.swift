import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

@Suite(.enabled(if: Mount.isPossible, "mounting a tmpfs needs root")) struct FullDiskTests {
    let disk: Mount
    let threads: DiskThreads

    init() throws {
        disk = try Mount(size: "1m")
        threads = try DiskThreads(count: 1)
    }

    @Test("after space is freed on a full disk, a download continues at the end of its part file")
    func fullThenFree() async throws {
        let location = try disk.scratch.location("file")
        let ballast = disk.scratch.path("ballast")
        try write(.init(repeating: 1, count: 700_000), to: ballast)
        let part = threads.partFile(location)
        let piece = [UInt8](repeating: 7, count: 200_000)
        #expect(try await part.append(piece) == 200_000)
        let failure = await #expect(throws: Failure.self) { try await part.append(piece) }
        #expect(failure?.status == .diskFull)
        #expect(failure?.message.contains("free some space") == true)
        #expect(unlink(ballast) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 200_000)
        #expect(try await part.append(piece) == 400_000)
        try await part.place(part.seal([8], expected: 400_001))
        #expect(contents(location.destination.path) == piece + piece + [8])
    }

    @Test("without free inodes, the failure says so, and the download continues after a file is removed")
    func noInodes() async throws {
        let disk = try Mount(size: "1m,nr_inodes=3")
        for name in ["a", "b"] { try write([1], to: disk.scratch.path(name)) }
        let part = threads.partFile(try disk.scratch.location("file"))
        let failure = await #expect(throws: Failure.self) { try await part.append([1]) }
        #expect(failure?.status == .diskFull)
        #expect(failure?.message.contains("no free inodes") == true)
        #expect(failure?.message.contains("space") == false)
        #expect(unlink(disk.scratch.path("a")) == 0)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(try await part.append([1]) == 1)
    }

    @Test("a seal that failed on a full disk succeeds after space is freed and the part file is reopened")
    func sealOnFullDisk() async throws {
        let location = try disk.scratch.location("file")
        let ballast = disk.scratch.path("ballast")
        try write(.init(repeating: 1, count: 1_000_000), to: ballast)
        let part = threads.partFile(location)
        let piece = [UInt8](repeating: 7, count: 200_000)
        #expect(await status { _ = try await part.seal(piece, expected: 200_000) } == .diskFull)
        #expect(unlink(ballast) == 0)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        try await part.place(part.seal(piece, expected: 200_000))
        #expect(contents(location.destination.path) == piece)
    }

    @Test("a lack of space is reported before the first write, and some space always stays free")
    func checkSpace() async throws {
        let part = threads.partFile(try disk.scratch.location("file"))
        func check(_ bytes: UInt64) async -> Status? {
            await status { try await result { part.checkSpace(for: bytes, then: $0) }.get() }
        }
        let available = disk.available
        #expect(await check(available) == .diskFull)
        #expect(await check(.max) == .diskFull)
        #expect(await check(available - 20_000) == nil)
        try write(.init(repeating: 1, count: 300_000), to: disk.scratch.path("ballast"))
        #expect(await check(available - 20_000) == .diskFull)
        #expect(await check(100_000) == nil)
        #expect(disk.scratch.names() == ["ballast"])
    }

    @Test("an old part file does not use the space of the download that replaces it", arguments: [true, false])
    func replacedPart(isChecked: Bool) async throws {
        let location = try disk.scratch.location("file")
        let part = threads.partFile(location)
        #expect(try await part.append([UInt8](repeating: 7, count: 600_000)) == 600_000)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        func check(replacesPart: Bool) async -> Status? {
            await status {
                try await result { part.checkSpace(for: 700_000, replacesPart: replacesPart, then: $0) }.get()
            }
        }
        #expect(await check(replacesPart: false) == .diskFull)
        #expect(disk.scratch.names().count == 1)
        if isChecked { #expect(await check(replacesPart: true) == nil) }
        let whole = [UInt8](repeating: 8, count: 700_000)
        try await part.place(part.seal(whole, expected: 700_000))
        #expect(contents(location.destination.path) == whole)
    }

    @Test("a file that exceeds the whole file system fails as `tooLarge`, even if only ten bytes must still be written")
    func impossibleSpace() async throws {
        let part = threads.partFile(try disk.scratch.location("file"))
        func check(_ bytes: UInt64, of size: UInt64?) async -> Result<Void, Failure> {
            await result { part.checkSpace(for: bytes, ofFileOf: size, then: $0) }
        }
        let total: UInt64 = 1 << 20
        for (missing, size) in [(UInt64(Int64.max), UInt64(Int64.max)), (total + 1, total + 1), (10, total + 1)] {
            guard case .failure(let failure) = await check(missing, of: size) else {
                Issue.record("\(size) bytes fit into \(total)")
                continue
            }
            #expect(failure.status == .tooLarge)
            #expect(failure.message.contains("announced \(size) bytes"))
            #expect(failure.message.contains("has \(total);"))
        }
        // If a file has an unknown size, or fits into the empty file system, it may fit later. In these two cases, the
        // check does not fail as `tooLarge`.
        #expect(await status { try await check(total, of: total).get() } == .diskFull)
        #expect(await status { try await check(.max, of: nil).get() } == .diskFull)
        #expect(await status { try await check(100_000, of: 100_000).get() } == nil)
        #expect(disk.scratch.names().isEmpty)
    }

    @Test("if a file to upload is larger than the free space of the store's disk, no byte of the file is copied")
    func bodyWithoutRoom() async throws {
        let source = try Scratch()
        let path = source.path("body")
        try write([UInt8](repeating: 1, count: 2 << 20), to: path)
        let file = try BodyCheck.check(path: path)
        let before = disk.available
        for kind in [BodySource.snapshot, .consume] {
            let body = IngestedBody(file, kind, name: "kept")
            let kept = await result { threads.ingest([body], in: disk.scratch.path, forbidden: [], then: $0) }
            #expect(disk.scratch.names().isEmpty)
            guard case .failure(let failure) = kept else {
                Issue.record("a body of 2 MiB fits into 1 MiB")
                continue
            }
            #expect(failure.status == .storeFull)
            #expect(failure.message.contains("\(file.size) bytes"))
            #expect(failure.message.contains("\(before)"))
        }
        #expect(contents(path)?.count == 2 << 20)
    }

    @Test("after the disk threads are closed, none of their descriptors prevents an unmount")
    func unmount() async throws {
        let part = threads.partFile(try disk.scratch.location("file"))
        try await part.place(part.seal([1]))
        threads.close()
        #expect(disk.unmount())
    }
}
