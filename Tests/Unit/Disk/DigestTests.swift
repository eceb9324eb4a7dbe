@testable import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@Suite("The digest of a part file")
struct DigestTests {
    let scratch: Scratch
    let faults = FaultPlan()
    let threads: DiskThreads
    private let bytes = pattern(10_000_000)

    init() throws {
        scratch = try Scratch()
        var files = FileSystem()
        files.faults = faults
        threads = try DiskThreads(count: 1, files: files)
    }

    private func digest(_ bytes: [UInt8], _ algorithm: Checksum.Algorithm = .sha256) throws -> Checksum {
        let digester = try Digester(algorithm)
        try digester.add(bytes[...])
        return try digester.finish()
    }

    @Test(
        "the digests of the text `abc` equal the examples of the standard (FIPS 180-4)",
        arguments: [
            ("sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Checksum.Algorithm.sha256),
            (
                "sha-512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3f"
                    + "eebbd454d4423643ce80e2a9ac94fa54ca49f", .sha512
            ),
        ])
    func standard(_ expected: String, _ algorithm: Checksum.Algorithm) throws {
        #expect(try digest(Array("abc".utf8), algorithm).text == expected)
    }

    @Test("the digest of a part file is computed while its bytes are written, and the file is not read")
    func whileWriting() async throws {
        let part = threads.partFile(try scratch.location("file"))
        part.hash(.sha512)
        for start in stride(from: 0, to: bytes.count, by: 1_000_000) {
            try await part.append(Array(bytes[start..<min(start + 1_000_000, bytes.count)]))
        }
        let sealed = try await part.sealed([1, 2], expected: UInt64(bytes.count + 2))
        #expect(try sealed.checksum == digest(bytes + [1, 2], .sha512))
        #expect(!faults.operations.contains(.read))
    }

    @Test("a digest is computed only on request, and even an empty part file can have a digest")
    func empty() async throws {
        let part = threads.partFile(try scratch.location("file"))
        part.hash(.sha256)
        #expect(try await part.sealed().checksum == digest([]))
        #expect(try await threads.partFile(try scratch.location("other")).sealed([1]).checksum == nil)
    }

    @Test("for the digest, the bytes of an earlier attempt are read one time while more bytes are written")
    func resumed() async throws {
        let location = try scratch.location("file")
        try await threads.partFile(location).append(Array(bytes[..<9_000_000]))
        let part = threads.partFile(location)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 9_000_000)
        part.hash(.sha256)
        part.append(Array(bytes[9_000_000..<9_500_000])) { _ in }
        let sealed = try await part.sealed(Array(bytes[9_500_000...]), expected: UInt64(bytes.count))
        #expect(try sealed.checksum == digest(bytes))
        // The file is read in slices of 4 MiB, so that the thread can do other work between the slices.
        #expect(faults.operations.filter { $0 == .read }.count == 3)
    }

    @Test("if another program changes a part file during the download, the digest is that of the changed file")
    func changedMeanwhile() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        part.hash(.sha256)
        try await part.append(Array(bytes[..<5_000_000]))
        try scratch.overwrite(location.partName, at: 1_000, with: 1)
        let sealed = try await part.sealed(Array(bytes[5_000_000...]), expected: UInt64(bytes.count))
        var changed = bytes
        changed[1_000] = 1
        #expect(try sealed.checksum == digest(changed))
    }

    @Test("a part file that another program has emptied during the download is not continued")
    func emptied() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append(Array(bytes[..<1_000_000]))
        #expect(truncate(scratch.partPath(location), 0) == 0)
        #expect(await status { try await part.append(Array(bytes[1_000_000..<2_000_000])) } == .diskFailed)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
    }

    @Test("the digest of a part file is correct after a failed write was repeated")
    func afterFailure() async throws {
        let part = threads.partFile(try scratch.location("file"))
        part.hash(.sha256)
        try await part.append(Array(bytes[..<1_000_000]))
        faults.fail(.write, with: ENOSPC)
        #expect(await status { try await part.append(Array(bytes[1_000_000..<2_000_000])) } == .diskFull)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 1_000_000)
        part.hash(.sha256)
        let sealed = try await part.sealed(Array(bytes[1_000_000...]), expected: UInt64(bytes.count))
        #expect(try sealed.checksum == digest(bytes))
    }

    /// Writes all bytes to a part file, and opens this file again as the next attempt does. Returns the reopened file.
    private func resumedPart(at location: PartLocation) async throws -> PartFile {
        try await threads.partFile(location).append(bytes)
        let part = threads.partFile(location)
        _ = try await part.openResuming(trusting: .allWritten(atLeastSynced: 0))
        return part
    }

    @Test("the digest of a part file is correct after a failed read, because the seal reads the file again")
    func readAgain() async throws {
        let part = try await resumedPart(at: scratch.location("file"))
        faults.fail(.read, with: EIO)
        part.hash(.sha256)
        #expect(try await part.sealed().checksum == digest(bytes))
    }

    @Test("the seal fails if the part file cannot be read for its digest")
    func unreadable() async throws {
        let part = try await resumedPart(at: scratch.location("file"))
        // Both reads fail: the first one after the call of `hash`, and the second one during the seal.
        for _ in 0..<2 { faults.fail(.read, with: EIO) }
        part.hash(.sha256)
        #expect(await status { _ = try await part.seal() } == .diskFailed)
    }

    @Test("the seal fails if the part file was truncated before its digest was computed")
    func truncated() async throws {
        let location = try scratch.location("file")
        let part = try await resumedPart(at: location)
        truncate(scratch.partPath(location), 100)
        part.hash(.sha256)
        #expect(await status { _ = try await part.seal() } == .diskFailed)
    }

    @Test("the digest of a large part file does not delay the seal of another file")
    func fairness() async throws {
        let large = try scratch.location("large")
        try await threads.partFile(large).append(pattern(60_000_000))
        let part = threads.partFile(large)
        _ = try await part.openResuming(trusting: .allWritten(atLeastSynced: 0))
        part.hash(.sha512)
        let order = Lock<[String]>([])
        part.seal([], expected: 60_000_000) { _ in order.change { $0.append("large") } }
        threads.partFile(try scratch.location("small")).seal([1], expected: 1) { _ in
            order.change { $0.append("small") }
        }
        let both = order.wait(until: .after(milliseconds: 30_000)) { $0.count == 2 ? $0 : nil }
        #expect(both == ["small", "large"])
    }
}
