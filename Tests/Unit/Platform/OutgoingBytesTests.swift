import Glibc
import Testing

@testable import BackhaulPlatform

@Suite struct OutgoingBytesTests {
    /// Returns the two ends of a connection.
    private func connection() throws -> (writer: UnixStream, reader: UnixStream) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &numbers) == 0)
        return (UnixStream(owning: numbers[0]), UnixStream(owning: numbers[1]))
    }

    /// Returns bytes in which no two blocks of 64 KiB, the size of a read, are equal.
    private func sample(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ $0 >> 16) }
    }

    @Test("all bytes arrive in order, even those that are appended while others wait")
    func order() throws {
        let (writer, reader) = try connection()
        let sent = sample(3 << 20)
        var rest = sent[...]
        var outgoing = OutgoingBytes()
        var received: [UInt8] = []
        while received.count < sent.count {
            outgoing.append(Array(rest.prefix(100_000)))
            rest = rest.dropFirst(100_000)
            let isOpen = outgoing.write(to: writer)
            #expect(isOpen)
            guard case .bytes(let bytes) = reader.read() else { break }
            received += bytes
        }
        #expect(received == sent)
        #expect(outgoing.isEmpty)
    }

    @Test("written bytes need little memory, and their removal moves few bytes")
    func removal() throws {
        let (writer, reader) = try connection()
        let size = 8 << 20
        var outgoing = OutgoingBytes()
        outgoing.append(sample(size))
        var (moved, removals) = (0, 0)
        while !outgoing.isEmpty {
            let stored = outgoing.storedCount
            let isOpen = outgoing.write(to: writer)
            #expect(isOpen)
            #expect(outgoing.storedCount - outgoing.count < max(256 << 10, outgoing.count / 8))
            if outgoing.storedCount < stored {
                moved += outgoing.count
                removals += 1
            }
            guard case .bytes = reader.read() else { break }
        }
        #expect(outgoing.storedCount == 0)
        #expect(removals > 1)
        // The threshold is rounded down, so each removal may move seven bytes more.
        #expect(moved <= 8 * size + 7 * removals)
    }

    @Test("after the reader has shut the connection down, a write reports its end and keeps the bytes")
    func end() throws {
        let (writer, reader) = try connection()
        // A child of another test may have a copy of the reader for a moment. A shutdown ends the connection anyway.
        shutdown(reader.number, Int32(SHUT_RDWR))
        var outgoing = OutgoingBytes()
        outgoing.append(sample(100))
        let isOpen = outgoing.write(to: writer)
        #expect(!isOpen)
        #expect(outgoing.count == 100)
    }
}
