#if DEBUG
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc
import Testing

@testable import BackhaulDisk

/// File systems that lack abilities of a local disk. A fault makes a system call fail in the way of such a file system.
@Suite struct FewAbilitiesTests {
    let scratch: Scratch
    let faults = FaultPlan()
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        var files = FileSystem()
        files.faults = faults
        threads = try DiskThreads(count: 1, files: files)
    }

    private func write(placeholderFor location: PartLocation) throws {
        try DiskTests.write(
            Array("backhaul: this file becomes \(location.partName)".utf8), to: location.destination.path)
    }

    // MARK: Names

    @Test(
        "the engine's own placeholder is not taken for another program's file if it cannot be read now",
        arguments: [(FileOperation.status, 2), (.open, 0), (.read, 0)])
    func unreadablePlaceholder(operation: FileOperation, callsBefore: Int) async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try write(placeholderFor: location)
        faults.fail(operation, after: callsBefore, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        try await part.place(intent)
        #expect(contents(location.destination.path) == [1])
    }

    @Test(
        "without a rename that replaces nothing, and without hard links, a file is placed over its own placeholder",
        arguments: [EINVAL, ENOSYS, EOPNOTSUPP], [EPERM, EOPNOTSUPP, ENOSYS, EMLINK])
    func noLinks(rename: Int32, link: Int32) async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        faults.fail(.rename, with: rename)
        faults.fail(.link, with: link)
        try await part.place(intent)
        #expect(contents(location.destination.path) == [1])
        #expect(scratch.names() == ["file"])
    }

    @Test("a foreign file with the final name is not replaced on such a file system")
    func taken() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try DiskTests.write([9], to: location.destination.path)
        faults.fail(.rename, with: EINVAL)
        faults.fail(.link, with: EPERM)
        #expect(await status { try await part.place(intent) } == .destinationExists)
        #expect(contents(location.destination.path) == [9])
        #expect(try await part.inspect(for: intent) == .partExists)
    }

    @Test("if the rename over the placeholder fails, the placeholder is removed and the part file stays")
    func failedRename() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        faults.fail(.rename, with: EINVAL)
        faults.fail(.link, with: EPERM)
        faults.fail(.rename, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        #expect(scratch.names() == [location.partName])
        try await part.place(intent)
    }

    @Test("a placeholder that a crash left is recognized, and the one of another download is not")
    func placeholder() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        var other = location
        other.partName = ".backhaul-test-FILE.part"
        try write(placeholderFor: other)
        #expect(await status { try await part.place(intent) } == .destinationExists)
        try write(placeholderFor: location)
        try await part.place(intent)
        #expect(contents(location.destination.path) == [1])
        #expect(scratch.names() == ["file"])
    }

    private func setModified(_ path: String, _ seconds: Int) {
        var times = [timespec(), timespec()]
        times[1].tv_sec = seconds
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }

    private func modified(_ path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mtim.tv_sec : nil
    }

    @Test(
        "an empty file is the placeholder of a crash only if the part file has the time at which the name was taken",
        arguments: [
            (-1_136_000_000, true), (-1_136_000_001, true), (-1_136_000_020, true), (-1_136_000_060, false),
            (-1_135_999_990, false), (-1_135_999_940, false), (0, false),
        ])
    func emptyPlaceholder(difference: Int, isOurs: Bool) async throws {
        let location = try scratch.location("file")
        let path = location.destination.path
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try DiskTests.write([], to: path)
        let taken = try #require(modified(path))
        setModified(scratch.partPath(location), taken + difference)
        #expect(await status { try await part.place(intent) } == (isOurs ? nil : .destinationExists))
        #expect(contents(path) == (isOurs ? [1] : []))
        #expect(try #require(modified(path)) >= taken)
    }

    @Test("before a file replaces its interrupted placeholder, its time of modification is set back")
    func interruptedPlaceholder() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try DiskTests.write([], to: location.destination.path)
        let taken = try #require(modified(location.destination.path))
        setModified(scratch.partPath(location), taken - 1_136_000_000)
        // The first rename finds the placeholder, and the second one would replace it.
        faults.fail(.rename, after: 1, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        #expect(try #require(modified(scratch.partPath(location))) >= taken)
    }

    @Test("only for the moment in which the placeholder is made, the file has another time of modification")
    func unchangedTime() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        setModified(scratch.partPath(location), 1_000_000_000)
        faults.fail(.rename, with: EINVAL)
        faults.fail(.link, with: EPERM)
        try await part.place(intent)
        #expect(faults.operations.count { $0 == .changeTimes } == 2)
        #expect(modified(location.destination.path) == 1_000_000_000)
    }

    @Test("each step that identifies the placeholder after a power loss is synced before the next step")
    func placeholderSyncs() async throws {
        let part = threads.partFile(try scratch.location("file"))
        let intent = try await part.seal([1])
        let before = faults.operations.count
        faults.fail(.rename, with: EINVAL)
        faults.fail(.link, with: EPERM)
        try await part.place(intent)
        let steps: Set<FileOperation> = [.changeTimes, .create, .write, .sync, .rename]
        let expected: [FileOperation] = [
            .rename, .changeTimes, .sync, .create, .write, .sync, .changeTimes, .sync, .rename,
        ]
        #expect(faults.operations[before...].filter(steps.contains) == expected)
    }

    @Test("an empty placeholder is filled and synced before the time that identifies it is set back")
    func emptyPlaceholderIsFinished() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try DiskTests.write([], to: location.destination.path)
        let taken = try #require(modified(location.destination.path))
        setModified(scratch.partPath(location), taken - 1_136_000_000)
        let before = faults.operations.count
        try await part.place(intent)
        let steps: Set<FileOperation> = [.changeTimes, .sync, .rename]
        let expected: [FileOperation] = [.rename, .sync, .changeTimes, .sync, .rename]
        #expect(faults.operations[before...].filter(steps.contains) == expected)
        #expect(try #require(modified(location.destination.path)) >= taken)
    }

    @Test("a file with content is never taken for an empty placeholder")
    func foreignContent() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try DiskTests.write([9], to: location.destination.path)
        let taken = try #require(modified(location.destination.path))
        setModified(scratch.partPath(location), taken - 1_136_000_000)
        #expect(await status { try await part.place(intent) } == .destinationExists)
        #expect(contents(location.destination.path) == [9])
    }

    // MARK: Syncs

    @Test(
        "if a directory cannot be synced, its file system is synced, and the file is placed",
        arguments: [EINVAL, ENOSYS, EOPNOTSUPP, EBADF])
    func directorySync(code: Int32) async throws {
        let part = threads.partFile(try scratch.location("file"))
        let intent = try await part.seal([1])
        faults.fail(.syncDirectory, with: code)
        try await part.place(intent)
        #expect(faults.operations.suffix(2) == [.syncDirectory, .syncFileSystem])
    }

    @Test("a file system without any sync does not prevent a download, and its errors do")
    func noSync() async throws {
        let part = threads.partFile(try scratch.location("file"))
        faults.fail(.sync, with: EINVAL)
        faults.fail(.syncFileSystem, with: ENOSYS)
        let intent = try await part.seal([1])
        faults.fail(.syncDirectory, with: EINVAL)
        faults.fail(.syncFileSystem, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        try await part.place(intent)
    }

    // MARK: Refused names

    @Test(
        "only names that some file systems refuse need a probe",
        arguments: [
            ("song.flac", false), ("a b (1).tar.gz", false), (String(repeating: "n", count: 100), false),
            ("ep:1.mp3", true), ("what?", true), ("a\\b", true), ("end.", true), ("end ", true), ("naïve.txt", true),
            ("line\nbreak", true), (String(repeating: "n", count: 101), true),
        ])
    func needsProbe(name: String, isNeeded: Bool) { #expect(NameProbe.isNeeded(name) == isNeeded) }

    @Test("a replaced mount point is refused before the download, and a busy file only when it is placed")
    func busy() async throws {
        let location = try scratch.location("file", replace: true)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        faults.fail(.rename, with: EBUSY)
        let failure = await #expect(throws: Failure.self) { try await part.place(intent) }
        #expect(failure?.status == .destinationUnavailable && failure?.message.contains("mount point") == true)
        #expect(try await part.inspect(for: intent) == .partExists)
        guard Mount.isPossible else { return }
        try DiskTests.write([1], to: scratch.path("source"))
        try DiskTests.write([9], to: scratch.path("mounted"))
        #expect(mount(scratch.path("source"), scratch.path("mounted"), "", UInt(Glibc.MS_BIND), "") == 0)
        defer { umount2(scratch.path("mounted"), 0) }
        let refusal = #expect(throws: Failure.self) { try scratch.location("mounted", replace: true) }
        #expect(refusal?.detail == Int64(EBUSY))
    }
}
#endif
