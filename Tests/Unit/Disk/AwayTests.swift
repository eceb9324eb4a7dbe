import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

/// File systems and directories that go away and come back.
@Suite struct AwayTests {
    let scratch: Scratch
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
    }

    /// A location in a directory of the scratch directory, with the identity of its file system.
    private func location(in directory: String) async throws -> PartLocation {
        mkdir(scratch.path(directory), 0o700)
        var location = try scratch.location(directory + "/file")
        location.partName = ".backhaul-test.part"
        let found = Lock<[String?]?>(nil)
        threads.inspect([location.destination]) { result in found.change { $0 = try? result.get() } }
        let identities = found.wait(until: .after(milliseconds: 30_000)) { $0 }
        location.destination.fileSystem = try #require(identities?.first ?? nil)
        return location
    }

    private func names(_ directory: String) -> [String] { directoryNames(scratch.path(directory)) }

    // MARK: Directories

    @Test("a directory that was made again, and a link that leads to another directory, are used")
    func otherDirectory() async throws {
        let location = try await location(in: "a")
        #expect(rename(scratch.path("a"), scratch.path("old")) == 0)
        mkdir(scratch.path("a"), 0o700)
        let part = threads.partFile(location)
        try await part.place(part.seal([1]))
        #expect(names("a") == ["file"])
        #expect(rename(scratch.path("a"), scratch.path("b")) == 0)
        #expect(symlink("old", scratch.path("a")) == 0)
        let next = threads.partFile(location)
        try await next.place(next.seal([2]))
        #expect(names("old") == ["file"])
    }

    @Test(
        "a link of another user in place of a directory is not followed",
        .enabled(if: geteuid() == 0), arguments: ["a/b", "a"])
    func strangeLink(replaced: String) async throws {
        mkdir(scratch.path("a"), 0o700)
        mkdir(scratch.path("victim"), 0o700)
        mkdir(scratch.path("victim/b"), 0o700)
        let location = try await location(in: "a/b")
        #expect(rename(scratch.path(replaced), scratch.path("old")) == 0)
        #expect(symlink(scratch.path(replaced == "a" ? "victim" : "victim/b"), scratch.path(replaced)) == 0)
        #expect(lchown(scratch.path(replaced), 12_345, 12_345) == 0)
        let part = threads.partFile(location)
        let failure = await #expect(throws: Failure.self) { try await part.append([1]) }
        #expect(failure?.status == .destinationUnavailable)
        #expect(failure?.message.contains("symbolic link of the user 12345") == true)
        #expect(names("victim/b").isEmpty)
    }

    @Test("a missing directory is away, and the message names it")
    func missing() async throws {
        let location = try await location(in: "a")
        #expect(rmdir(scratch.path("a")) == 0)
        let part = threads.partFile(location)
        let failure = await #expect(throws: Failure.self) { try await part.append([1]) }
        #expect(failure?.status == .storageAway && failure?.message.contains(scratch.path("a")) == true)
        try write([1], to: scratch.path("a"))
        #expect(await status { try await part.append([1]) } == .storageAway)
    }

    @Test("nothing is written below the mount point of a file system that is away", .enabled(if: Mount.isPossible))
    func emptyMountPoint() async throws {
        mkdir(scratch.path("a"), 0o700)
        #expect(mount("tmpfs", scratch.path("a"), "tmpfs", 0, "size=1m") == 0)
        let location = try await location(in: "a")
        let part = threads.partFile(location)
        try await part.append([1])
        try await part.sync()
        part.close()
        try await threads.settle()
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        let next = threads.partFile(location)
        #expect(await status { _ = try await next.openResuming(trusting: .synced(1)) } == .storageAway)
        #expect(await status { _ = try await next.seal([1]) } == .storageAway)
        #expect(await status { try await next.discard() } == .storageAway)
        #expect(names("a").isEmpty)
        // Another file system at this place is not the one of the enqueue.
        #expect(mount("other", scratch.path("a"), "tmpfs", 0, "size=1m") == 0)
        #expect(await status { _ = try await next.seal([1]) } == .storageAway)
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        #expect(mount("tmpfs", scratch.path("a"), "tmpfs", 0, "size=1m") == 0)
        let last = threads.partFile(location)
        try await last.place(last.seal([1]))
        #expect(names("a") == ["file"])
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
    }

    @Test(
        "the empty directory below a bind mount is on the same file system, and nothing is written there",
        .enabled(if: Mount.isPossible))
    func bindMount() async throws {
        for name in ["a", "source"] { mkdir(scratch.path(name), 0o700) }
        #expect(mount(scratch.path("source"), scratch.path("a"), "", UInt(MS_BIND), "") == 0)
        let location = try await location(in: "a")
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        let part = threads.partFile(location)
        #expect(await status { _ = try await part.seal([1]) } == .storageAway)
        #expect(names("a").isEmpty)
    }

    @Test(
        "a directory on which the same directory is mounted, before or after the enqueue, stays the directory",
        .enabled(if: Mount.isPossible), arguments: [true, false])
    func mountedOnItself(isBefore: Bool) async throws {
        mkdir(scratch.path("a"), 0o700)
        func change(_ isMounting: Bool) {
            let path = scratch.path("a")
            #expect(isMounting ? mount(path, path, "", UInt(MS_BIND), "") == 0 : umount2(path, Int32(MNT_DETACH)) == 0)
        }
        if isBefore { change(true) }
        let location = try await location(in: "a")
        change(!isBefore)
        let part = threads.partFile(location)
        try await part.place(part.seal([1]))
        #expect(names("a") == ["file"])
        if !isBefore { change(false) }
    }

    @Test("another part of the same file system in place of the mounted part is away", .enabled(if: Mount.isPossible))
    func otherPart() async throws {
        for name in ["a", "source", "other"] { mkdir(scratch.path(name), 0o700) }
        #expect(mount(scratch.path("source"), scratch.path("a"), "", UInt(MS_BIND), "") == 0)
        let location = try await location(in: "a")
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        #expect(mount(scratch.path("other"), scratch.path("a"), "", UInt(MS_BIND), "") == 0)
        let part = threads.partFile(location)
        #expect(await status { _ = try await part.seal([1]) } == .storageAway)
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        #expect(names("other").isEmpty)
    }

    // MARK: Unknown file systems

    @Test("while the file system of a directory cannot be found out, only the directory of the enqueue is used")
    func unknownFileSystem() async throws {
        let location = try await location(in: "a")
        // A cache without `FileSystemIdentities` knows no file system.
        var directories = DirectoryCache(files: FileSystem())
        _ = try directories.directory(of: location.destination)
        #expect(rename(scratch.path("a"), scratch.path("old")) == 0)
        mkdir(scratch.path("a"), 0o700)
        directories.closeAll()
        #expect(await status { _ = try directories.directory(of: location.destination) } == .storageAway)
        let isAway = directories.isFileSystemAway(location.destination)
        #expect(isAway)
    }

    @Test("a file system whose identity could not be read, because descriptors were missing, is identified later")
    func missingDescriptors() throws {
        let files = FileSystem()
        let directory = try files.openDirectory(scratch.path)
        let status = try files.status(directory.number)
        let identities = FileSystemIdentities()
        func identity(_ path: String) -> String? { identities.identity(of: directory.number, at: path, status) }
        #expect(try withoutDescriptors { identity("/a") } == nil)
        let found = try #require(identity("/a"))
        #expect(try withoutDescriptors { identity("/b") } == nil)
        #expect(identity("/b") == found)
    }

    // MARK: Removal

    @Test("a file is removed only when its file system is there", .enabled(if: Mount.isPossible))
    func removal() async throws {
        mkdir(scratch.path("a"), 0o700)
        #expect(mount("tmpfs", scratch.path("a"), "tmpfs", 0, "size=1m") == 0)
        let fileSystem = try await location(in: "a").destination.fileSystem
        let path = scratch.path("a/left")
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
        func remove(_ path: String) async -> Status? {
            await status { try await result { threads.remove(path: path, on: fileSystem, then: $0) }.get() }
        }
        #expect(await remove(path) == .storageAway)
        #expect(await remove(scratch.path("a/below/left")) == .storageAway)
        #expect(mount("tmpfs", scratch.path("a"), "tmpfs", 0, "size=1m") == 0)
        try write([1], to: path)
        #expect(await remove(path) == nil)
        #expect(names("a").isEmpty)
        // The directory was removed on a file system that is there.
        #expect(await remove(scratch.path("a/below/left")) == nil)
        #expect(umount2(scratch.path("a"), Int32(MNT_DETACH)) == 0)
    }

    // MARK: Other numbers

    @Test("a part file with another inode is continued if its bytes match the stored checksum, and not otherwise")
    func renumberedPart() async throws {
        let location = try await location(in: "a")
        let part = threads.partFile(location)
        let fingerprint = try await result { part.append([1, 2, 3], then: $0) }.get().fingerprint
        try await part.sync()
        part.close()
        try copy(location.partName, in: "a")
        let engine = try DiskThreads(count: 1)
        for (threads, bytes) in [(threads, [1, 2, 3]), (engine, [1, 2, 3]), (engine, [1, 2, 4])] as [(_, [UInt8])] {
            try write(bytes, to: scratch.path("a/" + location.partName))
            try copy(location.partName, in: "a")
            let next = threads.partFile(location)
            let kept = try await result {
                next.openResuming(trusting: .synced(3), as: [try! #require(fingerprint)], then: $0)
            }.get()
            #expect(kept == (bytes == [1, 2, 3] ? 3 : 0))
            next.close()
            try await threads.settle()
        }
    }

    @Test("a complete file with another inode is recognized by its bytes, under its old and its new name")
    func renumberedFile() async throws {
        let location = try await location(in: "a")
        let part = threads.partFile(location)
        let intent = try await part.seal([1, 2, 3])
        #expect(intent.checksum != nil)
        try copy(location.partName, in: "a")
        #expect(try await part.inspect(for: intent) == .partExists)
        try await part.place(intent)
        try copy("file", in: "a")
        #expect(try await part.inspect(for: intent) == .placed)
        try await part.place(intent)
        try write([1, 2, 4], to: scratch.path("a/file"))
        try copy("file", in: "a")
        #expect(try await part.inspect(for: intent) == .absent)
    }

    /// Puts a copy in the place of the file, so that the file has another inode. The old file stays under another name,
    /// so that a later copy does not get its inode.
    private func copy(_ name: String, in directory: String) throws {
        let path = scratch.path(directory + "/" + name)
        let bytes = try #require(contents(path))
        #expect(link(path, scratch.path("old\(directoryNames(scratch.path).count)")) == 0)
        try write(bytes, to: path + ".copy")
        chmod(path + ".copy", 0o600)
        #expect(rename(path + ".copy", path) == 0)
    }

    // MARK: Bodies

    @Test("the file of a body may have another inode, but neither another size nor another time")
    func renumberedBody() async throws {
        let path = scratch.path("body")
        try write([1, 2], to: path)
        let file = try BodyCheck.check(path: path)
        try copy("body", in: ".")
        var times = [timespec(), timespec()]
        times[1] = timespec(
            tv_sec: Int(file.modifiedNanoseconds / 1_000_000_000),
            tv_nsec: Int(file.modifiedNanoseconds % 1_000_000_000))
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        func read() async -> Status? {
            let reader = threads.bodyReader(file, at: path)
            return await status { _ = try await result { reader.read(at: 0, count: 2, then: $0) }.get() }
        }
        #expect(await read() == nil)
        times[1].tv_sec += 1
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(await read() == .bodyChanged)
    }

    @Test("a body is away with its file system or directory; a body that was removed is unavailable")
    func missingBody() async throws {
        mkdir(scratch.path("a"), 0o700)
        let path = scratch.path("a/body")
        try write([1], to: path)
        var file = try BodyCheck.check(path: path)
        #expect(unlink(path) == 0)
        func read() async -> Status? {
            let reader = threads.bodyReader(file, at: path)
            return await status { _ = try await result { reader.read(at: 0, count: 1, then: $0) }.get() }
        }
        #expect(await read() == .bodyUnavailable)
        file.device += 1
        #expect(await read() == .storageAway)
        // After a reboot, the device is unknown.
        file.device = 0
        #expect(await read() == .storageAway)
        #expect(rmdir(scratch.path("a")) == 0)
        #expect(await read() == .storageAway)
    }

    @Test(
        "while the drive of a consumed file is away, its old name is not removed, and the file is not returned",
        .enabled(if: Mount.isPossible))
    func consumedBody() async throws {
        for name in ["drive", "a", "store"] { mkdir(scratch.path(name), 0o700) }
        #expect(mount("tmpfs", scratch.path("drive"), "tmpfs", 0, "size=1m") == 0)
        func change(_ isMounting: Bool) {
            let (drive, path) = (scratch.path("drive"), scratch.path("a"))
            #expect(isMounting ? mount(drive, path, "", UInt(MS_BIND), "") == 0 : umount2(path, Int32(MNT_DETACH)) == 0)
        }
        func removed(_ file: BodyFile) async -> [BodyFile] {
            await withCheckedContinuation { done in threads.removeConsumed([file]) { done.resume(returning: $0) } }
        }
        func returned(_ body: ReturnedBody) async -> Status? {
            await withCheckedContinuation { done in
                threads.returnBodies([body], from: scratch.path("store")) {
                    done.resume(returning: $0.first?.failure?.status)
                }
            }
        }
        change(true)
        let path = scratch.path("a/body")
        try write([1, 2], to: path)
        var file = try BodyCheck.check(path: path)
        let ingested = IngestedBody(file, .consume, name: "c")
        let stored = try await result {
            threads.ingest([ingested], in: scratch.path("store"), forbidden: [], then: $0)
        }.get()
        let fileSystem = try #require(stored.first?.fileSystem)
        file.fileSystem = fileSystem
        let body = ReturnedBody(name: "c", path: path, task: TaskID(rawValue: 7), fileSystem: fileSystem)
        change(false)
        #expect(await removed(file) == [])
        #expect(await returned(body) == .storageAway)
        #expect(names("a").isEmpty && names("store") == ["c"])
        change(true)
        #expect(names("a") == ["body"])
        #expect(await removed(file) == [file])
        #expect(names("a").isEmpty)
        #expect(await returned(body) == nil)
        #expect(contents(path) == [1, 2] && names("store").isEmpty)
        change(false)
        #expect(umount2(scratch.path("drive"), Int32(MNT_DETACH)) == 0)
    }
}

extension DiskThreads {
    /// Waits until the threads have performed all earlier work.
    fileprivate func settle() async throws {
        try await result { remove(path: "/nowhere/at/all", then: $0) }.get()
    }
}
