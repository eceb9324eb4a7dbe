import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

/// The event loop reads the file of an upload itself, as long as the bytes are in the page cache.
@Suite("Reads of body files from the page cache")
struct CachedReadTests {
    let scratch: Scratch
    let threads: DiskThreads
    let bytes = pattern(300_000)

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
    }

    /// Whether the temporary directory's file system has reads that do not wait for a disk. For example, the overlayfs
    /// of a container has no such reads.
    private static let areSupported: Bool = {
        guard let scratch = try? Scratch(), (try? write([1], to: scratch.path("a"))) != nil,
            let file = try? FileSystem().openToSend(scratch.path("a"))
        else { return true }
        var found: [UInt8] = [0]
        var span = found.mutableSpan
        var room = span.mutableBytes
        do throws(SystemError) {
            return try FileSystem().readCached(file.number, into: &room, at: 0) == 1
        } catch {
            return error.code != EOPNOTSUPP
        }
    }()

    private var path: String { scratch.path("body") }

    /// Returns a reader whose file is in the page cache, because it was written a moment before.
    private func reader() throws -> BodyReader {
        try write(bytes, to: path)
        return threads.bodyReader(try BodyCheck.check(path: path), at: path)
    }

    private func read(_ reader: BodyReader, _ offset: UInt64, _ count: Int) async throws -> [UInt8] {
        try await result { reader.read(at: offset, count: count, then: $0) }.get()
    }

    private func readCached(_ reader: BodyReader, _ offset: UInt64, _ count: Int) -> [UInt8]? {
        var found: [UInt8] = Array(repeating: 0xFF, count: count)
        var span = found.mutableSpan
        var room = span.mutableBytes
        guard let size = reader.readCached(at: offset, into: &room) else { return nil }
        return Array(found[..<size])
    }

    @Test("bytes in the page cache are read without the disk thread", .enabled(if: areSupported))
    func cached() async throws {
        let reader = try reader()
        // The disk thread has not opened the file yet.
        #expect(readCached(reader, 0, 1_000) == nil)
        _ = try await read(reader, 0, 1_000)
        #expect(readCached(reader, 1_000, 100_000) == Array(bytes[1_000..<101_000]))
        #expect(readCached(reader, 290_000, 100_000) == Array(bytes[290_000...]))
        #expect(readCached(reader, 300_000, 1_000) == nil)
    }

    @Test("bytes that are not in the page cache are read by the disk thread")
    func absent() async throws {
        let reader = try reader()
        _ = try await read(reader, 0, 1_000)
        let number = try #require(openDescriptor(of: path))
        #expect(fsync(number) == 0)
        // The kernel keeps a page that another processor has just used. So the request is repeated.
        while readCached(reader, 200_000, 1_000) != nil {
            #expect(posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED) == 0)
        }
        #expect(try await read(reader, 200_000, 1_000) == Array(bytes[200_000..<201_000]))
    }

    @Test("if a body file was changed, the read from the page cache returns nothing, and the next read fails")
    func changed() async throws {
        let reader = try reader()
        _ = try await read(reader, 0, 1_000)
        try write(pattern(400_000), to: path)
        #expect(readCached(reader, 1_000, 1_000) == nil)
        #expect(await status { _ = try await read(reader, 1_000, 1_000) } == .bodyChanged)
    }

    @Test("after the last byte was read, or the reader was closed, the file is not open any more")
    func closed() async throws {
        let reader = try reader()
        _ = try await read(reader, 0, 1_000)
        #expect(openDescriptor(of: path) != nil)
        _ = try await read(reader, 299_000, 1_000)
        #expect(openDescriptor(of: path) == nil && readCached(reader, 1_000, 1_000) == nil)
        _ = try await read(reader, 0, 1_000)
        reader.close()
        threads.close()
        #expect(openDescriptor(of: path) == nil && readCached(reader, 1_000, 1_000) == nil)
    }
}
