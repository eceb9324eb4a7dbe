import BackhaulDisk
import BackhaulModel
import Glibc
import Testing

/// A host (a program that embeds the library) may close every descriptor that it finds. Then it may open its own files
/// with the same numbers. A *part file* is the file to which a download writes, and an *append* writes bytes at the end
/// of this file.
@Suite(.serialized) struct ClosedDescriptorTests {
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

    @Test("if the descriptor of a part file was closed, the next append reopens the file and writes at its end")
    func closed() async throws {
        try await part.append([1, 2, 3])
        #expect(Glibc.close(try #require(openDescriptor(of: scratch.partPath(location)))) == 0)
        #expect(try await part.append([4]) == 4)
        try await part.place(part.seal([5], expected: 5))
        #expect(contents(location.destination.path) == [1, 2, 3, 4, 5])
    }

    @Test("if a host's file has taken a part file's descriptor number, an append does not write to the host's file")
    func takenOver() async throws {
        try await part.append([1, 2, 3])
        let number = try #require(openDescriptor(of: scratch.partPath(location)))
        let host = scratch.path("host")
        try write([7, 7, 7, 7, 7, 7], to: host)
        let file = fopen(host, "r+")
        defer { fclose(file) }
        #expect(dup2(fileno(file), number) == number)
        try await part.place(part.seal([4], expected: 4))
        #expect(contents(host) == [7, 7, 7, 7, 7, 7])
        #expect(contents(location.destination.path) == [1, 2, 3, 4])
        #expect(fcntl(number, F_GETFD) >= 0)
        Glibc.close(number)
    }

    @Test("if a part file's descriptor was closed and another file has taken its name, the next append fails")
    func replaced() async throws {
        try await part.append([1, 2, 3])
        #expect(Glibc.close(try #require(openDescriptor(of: scratch.partPath(location)))) == 0)
        try write([9, 9, 9], to: scratch.path("other"))
        #expect(rename(scratch.path("other"), scratch.partPath(location)) == 0)
        #expect(await status { try await part.append([4]) } == .diskFailed)
    }
}
