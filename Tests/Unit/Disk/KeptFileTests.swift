import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc
import Testing

/// Before the file gets its new name, its identity is recorded as the claim's *intent*. A *foreign* file belongs to
/// another program.
@Suite struct KeptFileTests {
    let store: Scratch
    let home: Scratch
    let threads: DiskThreads
    let bytes = pattern(5_000_000)

    init() throws {
        store = try Scratch()
        home = try Scratch()
        threads = try DiskThreads(count: 2)
    }

    @discardableResult
    private func move(
        _ target: PartLocation, intent: FinishIntent? = nil, failing: Failure? = nil
    ) async throws -> [FinishIntent] {
        try await claim(store.path("kept"), target, threads, intent: intent, failing: failing)
    }

    private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("a kept file is moved with the requested mode, and a second move is harmless")
    func sameFileSystem() async throws {
        try write(bytes, to: store.path("kept"))
        let target = try home.location("photo", mode: 0o604)
        let intents = try await move(target)
        #expect(contents(target.destination.path) == bytes)
        #expect(permissions(target.destination.path) == 0o604)
        #expect(!isThere(store.path("kept")))
        #expect(try await move(target, intent: intents.last).isEmpty)
    }

    @Test("the identity of a kept file is recorded before the file is moved; if the record fails, the file stays")
    func recordFails() async throws {
        try write(bytes, to: store.path("kept"))
        let target = try home.location("photo")
        let failure = Failure(.storeFull, "the disk is full")
        #expect(await status { try await move(target, failing: failure) } == .storeFull)
        #expect(contents(store.path("kept")) == bytes)
        #expect(home.names().isEmpty)
    }

    @Test("a claim records the kept file even if an interrupted claim has recorded it, because its path may differ")
    func recordedBefore() async throws {
        try write(bytes, to: store.path("kept"))
        var status = stat()
        try #require(lstat(store.path("kept"), &status) == 0)
        let intent = FinishIntent(device: 0, inode: UInt64(status.st_ino), size: UInt64(status.st_size))
        #expect(try await move(try home.location("photo"), intent: intent).count == 1)
        #expect(contents(home.path("photo")) == bytes && store.names().isEmpty)
    }

    @Test("a foreign file at the destination is replaced only on request; otherwise, the kept file stays in the store")
    func stranger() async throws {
        try write(bytes, to: store.path("kept"))
        let target = try home.location("photo")
        try write([9], to: target.destination.path)
        #expect(await status { try await move(target) } == .destinationExists)
        #expect(contents(target.destination.path) == [9])
        #expect(isThere(store.path("kept")))
        let replacing = try home.location("photo", replace: true)
        try await move(replacing)
        #expect(contents(target.destination.path) == bytes)
    }

    @Test("if a kept file is missing in the store and at its destination, the claim fails with `notFound`")
    func gone() async throws {
        let target = try home.location("photo")
        #expect(await status { try await move(target) } == .notFound)
        // A foreign file of the same size.
        try write(bytes, to: target.destination.path)
        #expect(await status { try await move(target) } == .notFound)
        // A claim was interrupted after it recorded the kept file.
        try write(bytes, to: store.path("kept"))
        let intents = try await move(try home.location("moved"))
        #expect(await status { try await move(target, intent: intents.last) } == .notFound)
        #expect(contents(target.destination.path) == bytes)
    }

    @Test("if a kept file was linked to its destination before a crash, the next claim removes its name in the store")
    func linked() async throws {
        try write(bytes, to: store.path("kept"))
        let target = try home.location("photo")
        #expect(link(store.path("kept"), target.destination.path) == 0)
        try await move(target)
        #expect(!isThere(store.path("kept")))
        #expect(contents(target.destination.path) == bytes)
    }

    @Test("if a crash left the placeholder of a claim, the next claim replaces it, and gives the file its own mode")
    func placeholder() async throws {
        try write(bytes, to: store.path("kept"))
        let target = try home.location("photo", mode: 0o604)
        try write(Array("backhaul: this file becomes other".utf8), to: target.destination.path)
        #expect(await status { try await move(target) } == .destinationExists)
        try write(Array("backhaul: this file becomes kept".utf8), to: target.destination.path)
        chmod(target.destination.path, 0o600)
        try await move(target)
        #expect(contents(target.destination.path) == bytes)
        #expect(permissions(target.destination.path) == 0o604)
        #expect(store.names().isEmpty)
    }

    @Test("a claim of a kept file does not move the file if the destination is its own path")
    func ontoItself() async throws {
        try write(bytes, to: store.path("kept"))
        try await move(try store.location("kept"))
        #expect(contents(store.path("kept")) == bytes)
    }

    @Test("a second removal of a kept file is harmless")
    func remove() async throws {
        let path = store.path("kept")
        try write([1], to: path)
        try await result { threads.remove(path: path, then: $0) }.get()
        #expect(!isThere(path))
        try await result { threads.remove(path: path, then: $0) }.get()
        try await result { threads.remove(path: "/nowhere/at/all", then: $0) }.get()
    }
}

/// In these tests, the store and the destination are on different file systems.
@Suite(.enabled(if: Mount.isPossible, "mounting a tmpfs needs root")) struct KeptFileAcrossFileSystemsTests {
    let store: Scratch
    let home: Mount
    let threads: DiskThreads
    let bytes = pattern(5_000_000)

    init() throws {
        store = try Scratch()
        home = try Mount(size: "8m")
        threads = try DiskThreads(count: 2)
        try write(bytes, to: store.path("kept"))
    }

    @discardableResult
    private func move(
        _ target: PartLocation, intent: FinishIntent? = nil, failing: Failure? = nil
    ) async throws -> [FinishIntent] {
        try await claim(store.path("kept"), target, threads, intent: intent, failing: failing)
    }

    @Test("a kept file is copied to another file system and then removed, and a second move is harmless")
    func copy() async throws {
        let target = try home.scratch.location("photo", mode: 0o640)
        let intents = try await move(target)
        #expect(contents(target.destination.path) == bytes)
        #expect(permissions(target.destination.path) == 0o640)
        #expect(home.scratch.names() == ["photo"])
        #expect(store.names().isEmpty)
        #expect(intents.count == 2)
        #expect(intents.allSatisfy { $0.fileSystem?.hasPrefix("tmpfs") == true })
        #expect(try await move(target, intent: intents.last).isEmpty)
    }

    @Test("a move that is repeated before it has ended has the result of the first one, and makes no second copy")
    func repeated() async throws {
        let target = try home.scratch.location("photo")
        let ended = Lock<[Result<Void, Failure>]>([])
        await withCheckedContinuation { both in
            for _ in 0..<2 {
                threads.moveKept(from: store.path("kept"), to: target, intent: nil, record: { $1(.success(())) }) {
                    result in
                    let count = ended.withLock { ended in
                        ended.append(result)
                        return ended.count
                    }
                    if count == 2 { both.resume() }
                }
            }
        }
        for result in ended.withLock({ $0 }) { try result.get() }
        #expect(contents(target.destination.path) == bytes)
        #expect(home.scratch.names() == ["photo"])
        #expect(store.names().isEmpty)
    }

    @Test("while a kept file is moved, it cannot be moved to another path")
    func twoPaths() async throws {
        let (photo, other) = (try home.scratch.location("photo"), try home.scratch.location("other"))
        let refused = Lock<Status?>(nil)
        try await result { then in
            threads.moveKept(from: store.path("kept"), to: photo, intent: nil, record: { $1(.success(())) }, then: then)
            threads.moveKept(
                from: store.path("kept"), to: other, intent: nil, record: { $1(.success(())) },
                then: { result in
                    if case .failure(let failure) = result { refused.change { $0 = failure.status } }
                })
        }.get()
        #expect(refused.withLock { $0 } == .wrongState)
        #expect(home.scratch.names() == ["photo"])
    }

    @Test("if a crash left a complete copy of a kept file, the copy is recognized by its recorded identity")
    func copiedBefore() async throws {
        let target = try home.scratch.location("photo")
        let intents = try await move(target)
        // The crash happened before the kept file was removed.
        try write(bytes, to: store.path("kept"))
        try await move(target, intent: intents.last)
        #expect(store.names().isEmpty)
        #expect(home.scratch.names() == ["photo"])
    }

    @Test("if the identity of the copy cannot be recorded, the copy is removed and the kept file stays")
    func recordFails() async throws {
        let target = try home.scratch.location("photo")
        let failure = Failure(.storeFull, "the disk is full")
        #expect(await status { try await move(target, failing: failure) } == .storeFull)
        #expect(home.scratch.names().isEmpty)
        #expect(store.names() == ["kept"])
    }

    @Test("a foreign file on another file system is not replaced even with the same bytes, and the kept file stays")
    func stranger() async throws {
        let target = try home.scratch.location("photo")
        try write(bytes, to: target.destination.path)
        #expect(await status { try await move(target) } == .destinationExists)
        #expect(store.names() == ["kept"])
        #expect(home.scratch.names() == ["photo"])
    }

    @Test("if an earlier process left an incomplete copy of a kept file, the copy is made again")
    func halfCopy() async throws {
        let target = try home.scratch.location("photo")
        try write(bytes.suffix(100), to: home.scratch.partPath(target))
        try await move(target)
        #expect(contents(target.destination.path) == bytes)
        #expect(home.scratch.names() == ["photo"])
    }

    @Test("if a crash left the placeholder of the copy, the next claim replaces it")
    func placeholder() async throws {
        let target = try home.scratch.location("photo")
        try write(Array("backhaul: this file becomes \(target.partName)".utf8), to: target.destination.path)
        try await move(target)
        #expect(contents(target.destination.path) == bytes)
        #expect(home.scratch.names() == ["photo"])
        #expect(store.names().isEmpty)
    }

    @Test("if the copy of a kept file does not fit, the copy is removed and the kept file stays with its mode")
    func full() async throws {
        let target = try home.scratch.location("photo")
        chmod(store.path("kept"), 0o604)
        try write(.init(repeating: 1, count: 5_000_000), to: home.scratch.path("ballast"))
        #expect(await status { try await move(target) } == .diskFull)
        #expect(home.scratch.names() == ["ballast"])
        #expect(store.names() == ["kept"])
        #expect(permissions(store.path("kept")) == 0o604)
    }
}

/// Claims a kept file. Returns the intents that the claim has recorded. With `failing`, the record of the last intent
/// fails: the intent of the copy if the target is on another file system, and otherwise the intent of the kept file.
private func claim(
    _ path: String, _ target: PartLocation, _ threads: DiskThreads, intent: FinishIntent?, failing: Failure?
) async throws -> [FinishIntent] {
    let intents = Lock<[FinishIntent]>([])
    var (source, directory) = (stat(), stat())
    let isCopied =
        lstat(path, &source) == 0 && stat(target.destination.directory, &directory) == 0
        && source.st_dev != directory.st_dev
    try await result { then in
        threads.moveKept(
            from: path, to: target, intent: intent,
            record: { intent, recorded in
                let count = intents.withLock { intents in
                    intents.append(intent)
                    return intents.count
                }
                recorded(failing.map { count == (isCopied ? 2 : 1) ? .failure($0) : .success(()) } ?? .success(()))
            }, then: then)
    }.get()
    return intents.withLock { $0 }
}
