import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

/// A *foreign* file belongs to another program.
@Suite struct PlaceTests {
    let scratch: Scratch
    let threads: DiskThreads

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
    }

    @Test("a foreign file with the final name is not replaced, and the part file stays")
    func stranger() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try write([9], to: location.destination.path)
        #expect(await status { try await part.place(intent) } == .destinationExists)
        #expect(contents(location.destination.path) == [9])
        #expect(try await part.inspect(for: intent) == .partExists)
    }

    @Test("an existing file is replaced if the request allows a replacement")
    func replace() async throws {
        let location = try scratch.location("file", replace: true)
        try write([9], to: location.destination.path)
        let part = threads.partFile(location)
        try await part.place(part.seal([1]))
        #expect(contents(location.destination.path) == [1])
        #expect(scratch.names() == ["file"])
    }

    @Test("if the server names a file, the file is placed under that name, and is found there after a crash")
    func named() async throws {
        var check = DestinationCheck()
        let location = PartLocation(
            destination: try check.check(directory: scratch.path), partName: ".backhaul-test.part", mode: 0o644,
            replace: false)
        let part = threads.partFile(location)
        var intent = try await part.seal([1])
        intent.name = "theirs"
        #expect(try await part.inspect(for: intent) == .partExists)
        try await part.place(intent)
        #expect(scratch.names() == ["theirs"])
        #expect(try await part.inspect(for: intent) == .placed)
        #expect(try await result { part.freeNumber(of: "theirs", from: 0, then: $0) }.get() == 1)
        #expect(try await result { part.freeNumber(of: "free", from: 0, then: $0) }.get() == 0)
    }

    @Test("a directory at the destination is never replaced", arguments: [true, false])
    func directory(replace: Bool) async throws {
        let location = try scratch.location("file", replace: replace)
        #expect(mkdir(location.destination.path, 0o700) == 0)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(
            await status { try await part.place(intent) } == (replace ? .destinationUnavailable : .destinationExists))
        #expect(scratch.names().contains(location.partName))
    }

    @Test("a file that was renamed before a crash is recognized as placed", arguments: [true, false])
    func renamedBefore(replace: Bool) async throws {
        let location = try scratch.location("file", replace: replace)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(rename(scratch.partPath(location), location.destination.path) == 0)
        #expect(try await part.inspect(for: intent) == .placed)
        try await part.place(intent)
        try await part.place(intent)
        #expect(scratch.names() == ["file"])
    }

    @Test("a file is recognized even if a reboot has changed its device number")
    func otherBoot() async throws {
        var location = try scratch.location("file")
        let part = threads.partFile(location)
        var intent = try await part.seal([1])
        intent.device = 0
        location.destination.directoryDevice = 0
        let later = threads.partFile(location)
        #expect(try await later.inspect(for: intent) == .partExists)
        try await later.place(intent)
        #expect(scratch.names() == ["file"])
    }

    @Test("if a crash left a file under its old and its new name, the old name is removed", arguments: [true, false])
    func linkedBefore(replace: Bool) async throws {
        let location = try scratch.location("file", replace: replace)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(link(scratch.partPath(location), location.destination.path) == 0)
        try await part.place(intent)
        #expect(scratch.names() == ["file"])
    }

    @Test("another file with the name of the part file is not placed")
    func otherPart() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        try write([2], to: scratch.path("other"))
        #expect(rename(scratch.path("other"), scratch.partPath(location)) == 0)
        #expect(await status { try await part.place(intent) } == .diskFailed)
        #expect(try await part.inspect(for: intent) == .absent)
        #expect(contents(location.destination.path) == nil)
    }

    @Test("a sealed part file whose size has changed is not placed")
    func otherSize() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(truncate(scratch.partPath(location), 0) == 0)
        #expect(await status { try await part.place(intent) } == .diskFailed)
    }

    @Test("a finish intent finds the part file or the placed file, or reports that both are absent")
    func inspect() async throws {
        let location = try scratch.location("file")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(try await part.inspect(for: intent) == .partExists)
        try await part.place(intent)
        #expect(try await part.inspect(for: intent) == .placed)
        #expect(unlink(location.destination.path) == 0)
        #expect(try await part.inspect(for: intent) == .absent)
    }

    @Test("if the directory is missing, the storage is away, and its file does not count as absent")
    func lookWithoutDirectory() async throws {
        let location = try scratch.location(inNewDirectory: "disk")
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(rename(scratch.path("disk"), scratch.path("elsewhere")) == 0)
        #expect(await status { _ = try await part.inspect(for: intent) } == .storageAway)
    }
}
