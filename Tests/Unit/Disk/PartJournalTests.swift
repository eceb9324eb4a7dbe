import BackhaulModel
import CLinux
import Glibc
import Testing

@testable import BackhaulDisk

/// The *journal* has the length of a part file after the last write.
@Suite("A part file after a kill")
struct PartJournalTests {
    let scratch: Scratch
    let location: PartLocation

    init() throws {
        scratch = try Scratch()
        location = try scratch.location("file")
    }

    private var journal: PartJournal? { PartJournal(path: scratch.path("journal")) }

    /// Writes the chunks, syncs the first chunk, and leaves the file as a killed engine does. Returns the
    /// checkpoint's fingerprints, by which the next engine recognizes the file.
    private func killed(after pieces: [[UInt8]]) async throws -> [PartFingerprint] {
        let threads = try DiskThreads(count: 1, journal: journal)
        let part = threads.partFile(location)
        var synced: PartFingerprint?
        for piece in pieces {
            try await part.append(piece)
            if synced == nil { synced = try await result { part.sync(then: $0) }.get().fingerprint }
        }
        return try [#require(synced)]
    }

    /// Returns the bytes that the next engine keeps, or nil if the next engine starts at byte 0.
    private func continued(_ fingerprints: [PartFingerprint]) async throws -> [UInt8]? {
        let threads = try DiskThreads(count: 1, journal: journal)
        let part = threads.partFile(location)
        let synced = fingerprints.first?.length ?? 0
        let length = try await result {
            part.openResuming(trusting: .allWritten(atLeastSynced: synced), as: fingerprints, then: $0)
        }.get()
        guard length > 0 else { return nil }
        let bytes = contents(scratch.partPath(location))
        #expect(bytes?.count == Int(length))
        return bytes
    }

    private func change(_ body: (UnsafeMutablePointer<FILE>) -> Void) throws {
        let file = try #require(fopen(scratch.partPath(location), "r+"))
        body(file)
        fclose(file)
    }

    @Test("after a kill, a part file is complete up to its last write, even if this write was not synced")
    func keepsUnsynced() async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5], [6]])
        #expect(try await continued(fingerprints) == [1, 2, 3, 4, 5, 6])
    }

    @Test(
        "after a kill, bytes that follow the last recorded write are cut off from a part file", arguments: [1, 5_000])
    func dropsTail(count: Int) async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5]])
        try change { file in
            fseek(file, 0, SEEK_END)
            for _ in 0..<count { fputc(0, file) }
        }
        #expect(try await continued(fingerprints) == [1, 2, 3, 4, 5])
    }

    @Test("after a kill, a part file is cut to its synced length if later bytes have changed")
    func dropsGarbledTail() async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5]])
        try change { file in
            fseek(file, 4, SEEK_SET)
            fputc(0, file)
        }
        #expect(try await continued(fingerprints) == [1, 2, 3])
    }

    @Test("after a kill, a part file is cut to its synced length if a part of its last write is missing")
    func dropsCutTail() async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5]])
        #expect(truncate(scratch.partPath(location), 4) == 0)
        #expect(try await continued(fingerprints) == [1, 2, 3])
    }

    @Test("after a kill, a download starts at byte 0 if synced bytes of its part file have changed")
    func dropsAll() async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5]])
        try change { file in fputc(9, file) }
        #expect(try await continued(fingerprints) == nil)
    }

    @Test(
        "after a kill, a part file without a valid record is cut to its synced length",
        arguments: ["absent", "zeros", "garbled", "directory"])
    func withoutRecord(state: String) async throws {
        let fingerprints = try await killed(after: [[1, 2, 3], [4, 5]])
        let path = scratch.path("journal")
        switch state {
        case "zeros": try write([UInt8](repeating: 0, count: 65_536), to: path)
        case "garbled": try write([UInt8](repeating: 7, count: 100), to: path)
        default: unlink(path)
        }
        if state == "directory" { mkdir(path, 0o700) }
        #expect(try await continued(fingerprints) == [1, 2, 3])
    }

    @Test("a part file has no record in the journal after it is placed or removed")
    func forgets() async throws {
        let threads = try DiskThreads(count: 1, journal: journal)
        let part = threads.partFile(location)
        try await part.append([1])
        try await part.place(part.seal([2]))
        let other = threads.partFile(try scratch.location("other"))
        try await other.append([1])
        try await other.discard()
        threads.close()
        #expect(contents(scratch.path("journal"))?.allSatisfy { $0 == 0 } == true)
    }

    @Test("the journal of part files keeps the newest 2,048 records, and evicts older records")
    func manyRecords() throws {
        let journal = try #require(journal)
        for inode in 1...5_000 as ClosedRange<UInt64> { journal.note(inode, "part", length: inode, checksum: 7) }
        let again = try #require(self.journal)
        #expect(again.record(of: 5_000, "part")?.length == 5_000)
        #expect(again.record(of: 2_953, "part")?.length == 2_953)
        #expect(again.record(of: 2_952, "part") == nil)
        #expect(again.record(of: 5_000, "other") == nil)
        #expect(contents(scratch.path("journal"))?.count == 65_536)
    }

    @Test("a part file without a known checksum keeps its synced bytes, and the next write adds a record")
    func unknownChecksum() async throws {
        try write([1, 2, 3, 4, 5], to: scratch.partPath(location))
        var status = stat()
        stat(scratch.partPath(location), &status)
        let fingerprint = PartFingerprint(device: 0, inode: UInt64(status.st_ino), length: 3, checksum: nil)
        for fingerprints in [[], [fingerprint]] {
            let threads = try DiskThreads(count: 1, journal: journal)
            let part = threads.partFile(location)
            let length = try await result {
                part.openResuming(trusting: .allWritten(atLeastSynced: 3), as: fingerprints, then: $0)
            }.get()
            #expect(length == 3)
        }
        let threads = try DiskThreads(count: 1, journal: journal)
        let part = threads.partFile(location)
        _ = try await result {
            part.openResuming(trusting: .allWritten(atLeastSynced: 3), as: [fingerprint], then: $0)
        }.get()
        try await part.append([9])
        threads.close()
        #expect(journal?.record(of: UInt64(status.st_ino), location.partName)?.length == 4)
    }
}
