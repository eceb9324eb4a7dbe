import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

@Suite struct PartFileTests {
    let scratch: Scratch
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 2)
    }

    @Test("a file that is written in chunks has its final name, all bytes and its mode, and no part file is left")
    func wholeFile() async throws {
        let location = try scratch.location("song.flac", mode: 0o640)
        let part = threads.partFile(location)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(scratch.names().isEmpty)
        #expect(try await part.append([1, 2, 3]) == 3)
        #expect(permissions(scratch.partPath(location)) == 0o600)
        #expect(try await part.append([4, 5]) == 5)
        #expect(try await part.sync() == 5)
        let intent = try await part.seal([6], expected: 6)
        #expect(intent.size == 6)
        #expect(contents(location.destination.path) == nil)
        try await part.place(intent)
        #expect(contents(location.destination.path) == [1, 2, 3, 4, 5, 6])
        #expect(permissions(location.destination.path) == 0o640)
        #expect(scratch.names() == ["song.flac"])
    }

    @Test("a file without bytes is placed as an empty file")
    func emptyFile() async throws {
        let location = try scratch.location("empty")
        let part = threads.partFile(location)
        try await part.place(part.seal(expected: 0))
        #expect(contents(location.destination.path) == [])
    }

    @Test("calls for a part file are performed in order, even if the caller does not wait between them")
    func order() async throws {
        let location = try scratch.location("ordered")
        let part = threads.partFile(location)
        for byte in 0..<100 as Range<UInt8> {
            part.append([byte]) { _ in }
            if byte % 7 == 0 { part.sync { _ in } }
        }
        try await part.place(part.seal([100], expected: 101))
        #expect(contents(location.destination.path) == Array(0...100))
    }

    @Test("several hundred files are complete after they were sealed and placed at the same time")
    func manyFiles() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let part = threads.partFile(try scratch.location("file\(number)"))
                group.addTask {
                    try await part.place(part.seal(.init(repeating: UInt8(number % 256), count: number)))
                }
            }
            try await group.waitForAll()
        }
        #expect(scratch.names().count == 300)
        for number in 0..<300 {
            #expect(
                contents(scratch.path("file\(number)")) == .init(repeating: UInt8(number % 256), count: number))
        }
    }

    @Test("if a part file does not have the announced length, its seal fails, and the download can continue")
    func wrongLength() async throws {
        let location = try scratch.location("short")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        #expect(await status { _ = try await part.seal([3], expected: 5) } == .connectionLost)
        #expect(await status { _ = try await part.seal([3], expected: 2) } == .badResponse)
        #expect(try await part.append([3]) == 3)
        try await part.place(part.seal([4, 5], expected: 5))
        #expect(contents(location.destination.path) == [1, 2, 3, 4, 5])
    }

    @Test("a part file that another program has extended is not sealed")
    func changedByOthers() async throws {
        let location = try scratch.location("tampered")
        let part = threads.partFile(location)
        try await part.append([1, 2])
        try write([1, 2, 3, 4], to: scratch.partPath(location))
        #expect(await status { _ = try await part.seal([], expected: 2) } == .diskFailed)
    }

    @Test("a part file can be discarded twice, and can then be written again")
    func discard() async throws {
        let part = threads.partFile(try scratch.location("unwanted"))
        try await part.append([1])
        try await part.discard()
        #expect(scratch.names().isEmpty)
        try await part.discard()
        #expect(try await part.append([2]) == 1)
    }

    @Test("a part file can be discarded even if its directory is missing")
    func discardWithoutDirectory() async throws {
        let part = threads.partFile(try scratch.location(inNewDirectory: "gone"))
        #expect(rmdir(scratch.path("gone")) == 0)
        try await part.discard()
    }

    @Test("a closed part file stays, and can be resumed")
    func close() async throws {
        let location = try scratch.location("later")
        do {
            let part = threads.partFile(location)
            try await part.append([1, 2, 3])
            part.close()
        }
        let again = threads.partFile(location)
        #expect(try await again.openResuming(trusting: .allWritten(atLeastSynced: 0)) == 3)
    }

    @Test("a part file in a missing directory is away, and the message has the directory's path")
    func noSuchDirectory() async throws {
        let part = threads.partFile(try scratch.location(inNewDirectory: "gone"))
        #expect(rmdir(scratch.path("gone")) == 0)
        let failure = await #expect(throws: Failure.self) { try await part.append([1]) }
        #expect(failure?.status == .storageAway)
        #expect(failure?.message.contains(scratch.path("gone")) == true)
    }

    @Test("after a failed append, later appends fail, too, until the file is opened again")
    func appendAfterFailure() async throws {
        let part = threads.partFile(try scratch.location(inNewDirectory: "d"))
        #expect(rename(scratch.path("d"), scratch.path("away")) == 0)
        #expect(await status { try await part.append([1]) } == .storageAway)
        #expect(rename(scratch.path("away"), scratch.path("d")) == 0)
        #expect(await status { try await part.append([2]) } == .storageAway)
        #expect(directoryNames(scratch.path("d")).isEmpty)
        #expect(try await part.openResuming(trusting: .nothing) == 0)
        #expect(try await part.append([1]) == 1)
    }

    @Test("a part file is refused if another directory has replaced the directory that was checked before")
    func anotherDirectory() async throws {
        let part = threads.partFile(try scratch.location(inNewDirectory: "d"))
        #expect(rename(scratch.path("d"), scratch.path("moved")) == 0)
        #expect(mkdir(scratch.path("d"), 0o700) == 0)
        #expect(await status { try await part.append([1]) } == .destinationUnavailable)
        #expect(directoryNames(scratch.path("d")).isEmpty)
    }

    @Test("when the disk threads close, they perform all earlier calls, and later calls get no completion")
    func closeThreads() async throws {
        let threads = try DiskThreads(count: 3)
        for number in 0..<20 { threads.partFile(try scratch.location("file\(number)")).append([1]) { _ in } }
        threads.close()
        #expect(scratch.names().count == 20)
        threads.partFile(try scratch.location("late")).append([1]) { _ in Issue.record("a completion after close") }
        threads.close()
        #expect(scratch.names().count == 20)
    }
}
