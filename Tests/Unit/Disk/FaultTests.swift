#if DEBUG
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc
import Testing

@testable import BackhaulDisk

/// An *append* writes bytes at the end of the part file.
@Suite struct FaultTests {
    let scratch: Scratch
    let faults = FaultPlan()
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        var files = FileSystem()
        files.faults = faults
        threads = try DiskThreads(count: 1, files: files)
    }

    /// Blocks the disk thread until `post` has returned. So all calls that `post` has made become one batch.
    private func gather(_ post: () throws -> Void) rethrows {
        let blocker = Lock((isRunning: false, isReleased: false))
        threads.remove(path: scratch.path("absent")) { _ in
            blocker.change { $0.isRunning = true }
            _ = blocker.wait(until: .after(milliseconds: 30_000)) { $0.isReleased ? () : nil }
        }
        _ = blocker.wait(until: timeLimit) { $0.isRunning ? () : nil }
        defer { blocker.change { $0.isReleased = true } }
        try post()
    }

    /// A time limit that only a defect can exceed.
    private var timeLimit: Deadline { .after(milliseconds: 30_000) }

    @Test("after an append has failed on a full disk, all appends fail until the part file is opened again")
    func fullDisk() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        faults.fail(.write, with: ENOSPC)
        let failure = await #expect(throws: Failure.self) { try await part.append([3, 4]) }
        #expect(failure?.status == .diskFull)
        #expect(failure?.domain == .system)
        #expect(failure?.detail == Int64(ENOSPC))
        #expect(await status { try await part.append([5]) } == .diskFull)
        #expect(try await part.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 2)
        #expect(try await part.append([3, 4]) == 4)
        try await part.place(part.seal([], expected: 4))
        #expect(contents(location.destination.path) == [1, 2, 3, 4])
    }

    @Test(
        "the errors of a network share whose server does not respond mean that the file system is away",
        arguments: [EAGAIN, EHOSTDOWN, EHOSTUNREACH, EINTR, ENETUNREACH, ENOTCONN, ESTALE, ETIMEDOUT])
    func share(error: Int32) async throws {
        faults.fail(.write, with: error)
        let part = threads.partFile(try scratch.location("file"))
        #expect(await status { try await part.append([1]) } == .storageAway)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(try await part.append([1]) == 1)
    }

    @Test("an append that exceeds the quota fails with the status `diskFull`")
    func quota() async throws {
        faults.fail(.create, with: EDQUOT)
        let part = threads.partFile(try scratch.location("file"))
        #expect(await status { try await part.append([1]) } == .diskFull)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(try await part.append([1]) == 1)
    }

    @Test(
        "system errors become failures with a matching status",
        arguments: [
            (EIO, Status.diskFailed), (EROFS, .storageAway), (EACCES, .destinationUnavailable),
            (EMFILE, .outOfResources), (ENOSPC, .diskFull), (ENAMETOOLONG, .destinationUnavailable),
        ])
    func kinds(code: Int32, expected: Status) async throws {
        faults.fail(.create, with: code)
        let location = try scratch.location("file")
        let failure = await #expect(throws: Failure.self) { try await threads.partFile(location).append([1]) }
        #expect(failure?.status == expected)
        #expect(failure?.message.contains(location.destination.path) == true)
        #expect(failure?.message.contains(SystemError.reason(of: code)) == true)
    }

    @Test("after a failed sync, all calls fail until the part file is reopened at the last synced length")
    func failedSync() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        #expect(try await part.sync() == 2)
        try await part.append([3, 4])
        faults.fail(.sync, with: EIO)
        #expect(await status { try await part.sync() } == .diskFailed)
        #expect(await status { try await part.append([5]) } == .diskFailed)
        #expect(await status { try await part.sync() } == .diskFailed)
        #expect(await status { _ = try await part.seal() } == .diskFailed)
        #expect(try await part.openResuming(trusting: .synced(2)) == 2)
        try await part.place(part.seal([7], expected: 3))
        #expect(contents(location.destination.path) == [1, 2, 7])
    }

    @Test("after a failed sync, the part file has only the bytes of earlier syncs, although nothing opens it again")
    func endAfterFailedSync() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        try await part.sync()
        try await part.append([3, 4])
        faults.fail(.sync, with: EIO)
        #expect(await status { try await part.sync() } == .diskFailed)
        #expect(contents(scratch.path(location.partName)) == [1, 2])
    }

    @Test("a part file whose sync has failed is truncated before the next file of the batch is synced")
    func truncatedAtOnce() throws {
        let parts = try (0..<3).map { threads.partFile(try scratch.location("file\($0)")) }
        let done = Lock(0)
        faults.fail(.sync, with: EIO)
        gather { for part in parts { part.seal([1], expected: 1) { _ in done.change { $0 += 1 } } } }
        _ = done.wait(until: timeLimit) { $0 == 3 ? () : nil }
        let steps: Set<FileOperation> = [.sync, .truncate]
        #expect(faults.operations.filter(steps.contains) == [.sync, .truncate, .sync, .sync])
    }

    /// Writes the bytes to a part file, and syncs the first of them. Returns the part file of the next engine, which
    /// starts after a kill, with its threads and the checkpoint's fingerprint.
    private func killed(
        after bytes: [UInt8], synced: Int
    ) async throws -> (part: PartFile, threads: DiskThreads, fingerprint: PartFingerprint) {
        let location = try scratch.location("file")
        let earlier = try DiskThreads(count: 1, journal: PartJournal(path: scratch.path("journal")))
        let part = earlier.partFile(location)
        try await part.append(Array(bytes[..<synced]))
        let fingerprint = try await result { part.sync(then: $0) }.get().fingerprint
        if synced < bytes.count { try await part.append(Array(bytes[synced...])) }
        earlier.close()
        var files = FileSystem()
        files.faults = faults
        let next = try DiskThreads(count: 1, journal: PartJournal(path: scratch.path("journal")), files: files)
        return (next.partFile(location), next, try #require(fingerprint))
    }

    private func resume(_ part: PartFile, _ fingerprint: PartFingerprint) async throws -> UInt64 {
        try await result {
            part.openResuming(trusting: .allWritten(atLeastSynced: fingerprint.length), as: [fingerprint], then: $0)
        }.get()
    }

    @Test(
        "after a kill, the unsynced bytes of a part file are written again, because a sync of them may have failed",
        arguments: [(synced: 5_000_000, writes: 2), (synced: 9_000_000, writes: 0)])
    func writesAgain(synced: Int, writes: Int) async throws {
        let bytes = pattern(9_000_000)
        let next = try await killed(after: bytes, synced: synced)
        #expect(try await resume(next.part, next.fingerprint) == 9_000_000)
        #expect(faults.operations.count { $0 == .write } == writes)
        #expect(contents(scratch.partPath(next.part.location)) == bytes)
        next.threads.close()
    }

    @Test("if the unsynced bytes of a part file cannot be written again, the download waits, and no byte is lost")
    func cannotWriteAgain() async throws {
        let next = try await killed(after: [1, 2, 3, 4], synced: 2)
        faults.fail(.write, with: ENOSPC)
        #expect(await status { _ = try await resume(next.part, next.fingerprint) } == .diskFull)
        #expect(try await resume(next.part, next.fingerprint) == 4)
        #expect(contents(scratch.partPath(next.part.location)) == [1, 2, 3, 4])
        next.threads.close()
    }

    @Test("if a part file is closed in the batch of its failed sync, it has only the bytes of earlier syncs")
    func closeBehindFailedSync() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        try await part.sync()
        try await part.append([3, 4])
        faults.fail(.sync, with: EIO)
        let synced = Lock<Status?>(nil)
        gather {
            part.sync { result in
                if case .failure(let failure) = result { synced.change { $0 = failure.status } }
            }
            part.close()
        }
        #expect(synced.wait(until: timeLimit) { $0 } == .diskFailed)
        #expect(contents(scratch.partPath(location)) == [1, 2])
        let later = threads.partFile(location)
        #expect(try await later.openResuming(trusting: .allWritten(atLeastSynced: 2)) == 2)
    }

    @Test("after a part file is removed, its directory is synced; if that fails, the removal fails")
    func discard() async throws {
        let part = threads.partFile(try scratch.location("file"))
        try await part.append([1])
        try await part.discard()
        #expect(faults.operations.suffix(2) == [.unlink, .syncDirectory])
        try await part.append([1])
        faults.fail(.syncDirectory, with: EIO)
        #expect(await status { try await part.discard() } == .diskFailed)
    }

    @Test("the directory of a missing part file is synced, because a removal before a crash may not have been synced")
    func discardAfterCrash() async throws {
        let part = threads.partFile(try scratch.location("file"))
        try await part.discard()
        #expect(faults.operations.suffix(2) == [.status, .syncDirectory])
        faults.fail(.syncDirectory, with: EIO)
        #expect(await status { try await part.discard() } == .diskFailed)
    }

    @Test("a repeated claim of a kept file syncs both directories, because the first claim may not have synced them")
    func repeatedClaim() async throws {
        let store = try Scratch()
        let target = try scratch.location("photo")
        try write([1], to: store.path("kept"))
        let recorded = Lock<FinishIntent?>(nil)
        for _ in 0..<2 {
            let intent = recorded.withLock { $0 }
            try await result { then in
                threads.moveKept(
                    from: store.path("kept"), to: target, intent: intent,
                    record: { intent, done in
                        recorded.change { $0 = intent }
                        done(.success(()))
                    }, then: then)
            }.get()
        }
        #expect(contents(target.destination.path) == [1])
        #expect(faults.operations.suffix(3) == [.status, .syncDirectory, .syncDirectory])
    }

    @Test("if the sync of a seal fails, the seal returns no finish intent and the file is not placed")
    func failedSeal() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        faults.fail(.sync, with: EIO)
        #expect(await status { _ = try await part.seal([1]) } == .diskFailed)
        #expect(await status { _ = try await part.seal([1]) } == .diskFailed)
        #expect(contents(location.destination.path) == nil)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        try await part.place(part.seal([1]))
    }

    @Test("if the sync of one file in a batch of seals fails, only the seal of this file fails")
    func failedSealInBatch() async throws {
        let outcomes = Lock<[Bool]>([])
        faults.fail(.sync, after: 1, with: EIO)
        try gather {
            for number in 0..<3 {
                threads.partFile(try scratch.location("file\(number)")).seal([1], expected: 1) { result in
                    outcomes.change { $0.append((try? result.get()) != nil) }
                }
            }
        }
        let seen = outcomes.wait(until: timeLimit) { $0.count == 3 ? $0 : nil }
        #expect(seen == [true, false, true])
    }

    @Test(
        "if the status of a file cannot be read, a placement replaces no file",
        arguments: ["file", "pipe", "link to a pipe"], 0..<3)
    func unknownFile(kind: String, callsBefore: Int) async throws {
        let location = try scratch.location("file", replace: true)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        let path = location.destination.path
        switch kind {
        case "file": try write([9], to: path)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: #expect(mkfifo(scratch.path("pipe"), 0o600) == 0 && symlink("pipe", path) == 0)
        }
        var before = stat()
        #expect(lstat(path, &before) == 0)
        // The first calls are for the directory, for the existing file, and for its other spelling or its target.
        faults.fail(.status, after: callsBefore, with: EIO)
        #expect(await status { try await part.place(intent) } != nil)
        var after = stat()
        #expect(lstat(path, &after) == 0 && after.st_ino == before.st_ino)
    }

    @Test("a complete file that cannot be read now is not absent, and another program's unreadable file is not placed")
    func unreadableFile() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1, 2, 3])
        try write([1, 2, 3], to: location.destination.path)
        #expect(rename(scratch.partPath(location), scratch.path("old")) == 0)
        faults.fail(.open, with: EIO)
        #expect(await status { _ = try await part.inspect(for: intent) } == .diskFailed)
        faults.fail(.open, with: EACCES)
        #expect(try await part.inspect(for: intent) == .absent)
        #expect(try await part.inspect(for: intent) == .placed)
    }

    @Test("no name is free while the disk does not report whether a file has it")
    func unknownName() async throws {
        let part = threads.partFile(try scratch.location("file"))
        try write([9], to: scratch.path("theirs"))
        faults.fail(.status, after: 1, with: EIO)
        #expect(
            await status { _ = try await result { part.freeNumber(of: "theirs", from: 0, then: $0) }.get() }
                == .diskFailed)
        #expect(try await result { part.freeNumber(of: "theirs", from: 0, then: $0) }.get() == 1)
    }

    @Test("a file that may replace another one is not readable for others, even if the status of that one is unknown")
    func unknownMode() async throws {
        let part = threads.partFile(try scratch.location("file", replace: true))
        try write([9], to: scratch.path("file"))
        faults.fail(.status, after: 1, with: EIO)
        #expect(await status { _ = try await part.seal([1]) } == .diskFailed)
    }

    @Test("a part file is not lost while the file system cannot be examined", .enabled(if: geteuid() == 0))
    func unknownOwner() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        try await part.sync()
        #expect(chown(scratch.partPath(location), 12_345, 12_345) == 0)
        faults.fail(.space, with: EIO)
        #expect(await status { _ = try await part.openResuming(trusting: .synced(2)) } == .diskFailed)
    }

    @Test("a file can be placed again after a failed rename")
    func failedRename() async throws {
        let part = threads.partFile(try scratch.location("file"))
        let intent = try await part.seal([1])
        faults.fail(.rename, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        #expect(try await part.inspect(for: intent) == .partExists)
        try await part.place(intent)
    }

    @Test("if the sync of a directory fails, the placement of each file in this directory fails")
    func failedDirectorySync() async throws {
        var sealed: [(PartFile, FinishIntent)] = []
        for number in 0..<3 {
            let part = threads.partFile(try scratch.location("file\(number)"))
            sealed.append((part, try await part.seal([1])))
        }
        faults.fail(.syncDirectory, after: 1, with: EIO)
        let outcomes = Lock<[Status]>([])
        gather {
            for (part, intent) in sealed {
                part.place(intent) { result in
                    guard case .failure(let failure) = result else { return }
                    outcomes.change { $0.append(failure.status) }
                }
            }
        }
        #expect(
            outcomes.wait(until: timeLimit) { $0.count == 3 ? $0 : nil } == [.diskFailed, .diskFailed, .diskFailed])
    }

    @Test("a file is placed by a link if the system cannot rename without replacing", arguments: [EINVAL, ENOSYS])
    func renameUnsupported(code: Int32) async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        faults.fail(.rename, with: code)
        try write([9], to: location.destination.path)
        #expect(await status { try await part.place(intent) } == .destinationExists)
        #expect(unlink(location.destination.path) == 0)
        faults.fail(.rename, with: code)
        try await part.place(intent)
        #expect(scratch.names() == ["file"])
    }

    @Test("if a file was placed by a link but kept its old name, the next placement removes the old name")
    func unlinkFails() async throws {
        let part = threads.partFile(try scratch.location("file"))
        let intent = try await part.seal([1])
        faults.fail(.rename, with: EINVAL)
        faults.fail(.unlink, with: EIO)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        try await part.place(intent)
        #expect(scratch.names() == ["file"])
    }

    @Test("a file's data is synced before the rename, and its directory is synced after the rename")
    func orderOfOneFile() async throws {
        // The umask removes a permission of this mode, so the mode is set after the file's creation.
        let part = threads.partFile(try scratch.location("file", mode: 0o666))
        try await part.place(part.seal([1]))
        let steps: Set<FileOperation> = [.create, .write, .changeMode, .sync, .rename, .syncDirectory]
        #expect(
            faults.operations.filter(steps.contains) == [.create, .write, .changeMode, .sync, .rename, .syncDirectory])
        #expect(permissions(scratch.path("file")) == 0o666)
    }

    @Test("a file that is written in one step is created with its permissions, and stat(2) is called twice for it")
    func fewCallsForSmallFile() async throws {
        let part = threads.partFile(try scratch.location("file"))
        try await part.place(part.seal([1]))
        #expect(permissions(scratch.path("file")) == 0o644)
        #expect(!faults.operations.contains(.changeMode))
        // Three further calls of stat(2) are for directories: one in the batch that seals the file, one in the batch
        // that renames the file, and one for the directory `home` of `DiskThreads`.
        #expect(faults.operations.count { $0 == .status } == 2 + 3)
    }

    @Test("the new files of a batch share one check of the free space")
    func sharedSpaceCheck() throws {
        let parts = try (0..<3).map { threads.partFile(try scratch.location("file\($0)")) }
        let done = Lock(0)
        gather { for part in parts { part.seal([1], expected: 1) { _ in done.change { $0 += 1 } } } }
        _ = done.wait(until: timeLimit) { $0 == 3 ? () : nil }
        #expect(faults.operations.count { $0 == .space } == 1)
    }

    @Test("the write-back of all files of a batch starts before the first sync, and their directory is synced once")
    func orderOfBatch() async throws {
        let done = Lock(0)
        var parts: [PartFile] = []
        for number in 0..<3 { parts.append(threads.partFile(try scratch.location("file\(number)"))) }
        let intents = Lock<[FinishIntent]>([])
        gather {
            for part in parts {
                part.seal([1], expected: 1) { result in
                    intents.change { $0 += [result].compactMap { try? $0.get().intent } }
                }
            }
        }
        let sealed = intents.wait(until: timeLimit) { $0.count == 3 ? $0 : nil } ?? []
        gather {
            for (part, intent) in zip(parts, sealed) { part.place(intent) { _ in done.change { $0 += 1 } } }
        }
        _ = done.wait(until: timeLimit) { $0 == 3 ? () : nil }
        let syncs: Set<FileOperation> = [.startWriteBack, .sync, .rename]
        #expect(
            faults.operations.filter(syncs.contains)
                == [.startWriteBack, .startWriteBack, .startWriteBack] + [.sync, .sync, .sync]
                + [.rename, .rename, .rename])
        let lastRename = faults.operations.lastIndex(of: .rename) ?? 0
        #expect(faults.operations[lastRename...].count { $0 == .syncDirectory } == 1)
    }

    @Test("a call for a part file waits for an earlier seal of the same file in the same batch")
    func placeBehindSeal() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let order = Lock<[String]>([])
        gather {
            part.seal([1], expected: 1) { _ in order.change { $0.append("sealed") } }
            part.discard { _ in order.change { $0.append("discarded") } }
        }
        #expect(order.wait(until: timeLimit) { $0.count == 2 ? $0 : nil } == ["sealed", "discarded"])
        #expect(scratch.names().isEmpty)
    }
}
#endif
