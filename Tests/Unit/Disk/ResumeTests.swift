import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

@Suite struct ResumeTests {
    let scratch: Scratch
    let threads: DiskThreads
    let location: PartLocation
    let part: PartFile

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
        location = try scratch.location("file")
        part = threads.partFile(location)
    }

    @Test("after a reboot, only the synced bytes of a part file are kept")
    func synced() async throws {
        try write([1, 2, 3, 4, 5], to: scratch.partPath(location))
        #expect(try await part.openResuming(trusting: .synced(3)) == 3)
        #expect(contents(scratch.partPath(location)) == [1, 2, 3])
        #expect(try await part.append([9]) == 4)
        try await part.place(part.seal())
        #expect(contents(location.destination.path) == [1, 2, 3, 9])
    }

    @Test("even without a reboot, a part file without a known checksum keeps only its synced bytes")
    func allWritten() async throws {
        try write([1, 2, 3, 4, 5], to: scratch.partPath(location))
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 3)) == 3)
        try await part.place(part.seal([6]))
        #expect(contents(location.destination.path) == [1, 2, 3, 6])
    }

    @Test(
        "a download starts at byte 0 if its part file is shorter than the synced length",
        arguments: [
            TrustedLength.synced(6), .allWritten(atLeastSynced: 6),
        ])
    func tooShort(trusted: TrustedLength) async throws {
        try write([1, 2, 3, 4, 5], to: scratch.partPath(location))
        #expect(try await part.openResuming(trusting: trusted) == 0)
        try await part.place(part.seal([7]))
        #expect(contents(location.destination.path) == [7])
    }

    @Test("an untrusted part file is replaced at the first write")
    func untrusted() async throws {
        try write([1, 2, 3], to: scratch.partPath(location))
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(try await part.append([9]) == 1)
        #expect(contents(scratch.partPath(location)) == [9])
    }

    @Test(
        "if the part file is missing, a download starts at byte 0, and opening creates no file",
        arguments: [
            TrustedLength.synced(6), .allWritten(atLeastSynced: 0), .nothing,
        ])
    func absent(trusted: TrustedLength) async throws {
        #expect(try await part.openResuming(trusting: trusted) == 0)
        #expect(scratch.names().isEmpty)
    }

    @Test("a part file that is reopened during a download is cut to its trusted length")
    func reopened() async throws {
        try await part.append([1, 2, 3])
        try await part.sync()
        try await part.append([4, 5])
        #expect(try await part.openResuming(trusting: .synced(3)) == 3)
        try await part.place(part.seal([6]))
        #expect(contents(location.destination.path) == [1, 2, 3, 6])
    }

    @Test("a symbolic link with the name of a part file is not resumed and not followed")
    func symbolicLink() async throws {
        let other = scratch.path("other")
        try write([1, 2, 3], to: other)
        #expect(symlink(other, scratch.partPath(location)) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
        try await part.append([9])
        #expect(contents(other) == [1, 2, 3])
    }

    @Test("a part file with a second hard link is not resumed and not written")
    func hardLink() async throws {
        let other = scratch.path("other")
        try write([1, 2, 3], to: other)
        #expect(link(other, scratch.partPath(location)) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
        try await part.append([9])
        #expect(contents(other) == [1, 2, 3])
    }

    @Test("a pipe with the name of a part file does not block the disk thread")
    func pipe() async throws {
        #expect(mkfifo(scratch.partPath(location), 0o600) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
        #expect(try await part.append([9]) == 1)
    }

    @Test("a part file that another user owns is not resumed", .enabled(if: geteuid() == 0))
    func otherOwner() async throws {
        try write([1, 2, 3], to: scratch.partPath(location))
        #expect(chown(scratch.partPath(location), 12_345, 12_345) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
    }

    @Test("a directory with the name of a part file is not removed, and appends fail")
    func directory() async throws {
        #expect(mkdir(scratch.partPath(location), 0o700) == 0)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 0)
        #expect(await status { try await part.append([1]) } == .destinationUnavailable)
    }
}
