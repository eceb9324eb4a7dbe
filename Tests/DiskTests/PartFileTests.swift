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

    @Test("a file written in pieces is whole under its final name, with its mode, and no part is left")
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

    @Test("a file that never got a byte is made empty")
    func emptyFile() async throws {
        let location = try scratch.location("empty")
        let part = threads.partFile(location)
        try await part.place(part.seal(expected: 0))
        #expect(contents(location.destination.path) == [])
    }
}
