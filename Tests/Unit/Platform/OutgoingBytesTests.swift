import CLinux
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

    private func sample(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    @Test("all bytes arrive in order, even if the socket never has space for all of them")
    func order() throws {
        let (writer, reader) = try connection()
        let sent = sample(3 << 20)
        var outgoing = OutgoingBytes()
        outgoing.append(Array(sent[..<(2 << 20)]))
        outgoing.append(Array(sent[(2 << 20)...]))
        var received: [UInt8] = []
        while received.count < sent.count {
            let isOpen = outgoing.write(to: writer)
            #expect(isOpen)
            guard case .bytes(let bytes) = reader.read() else { break }
            received += bytes
        }
        #expect(received == sent)
        #expect(outgoing.isEmpty)
    }

    @Test("fewer written bytes stay in memory than 256 KiB or 1/8 of the waiting bytes, whichever is more")
    func memory() throws {
        let (writer, reader) = try connection()
        var outgoing = OutgoingBytes()
        outgoing.append(sample(8 << 20))
        while true {
            let isOpen = outgoing.write(to: writer)
            #expect(isOpen)
            if outgoing.isEmpty { break }
            #expect(outgoing.storedCount - outgoing.count < max(256 << 10, outgoing.count / 8))
            guard case .bytes = reader.read() else { break }
        }
        #expect(outgoing.isEmpty)
        #expect(outgoing.storedCount == 0)
    }

    @Test("after the reader has closed the connection, a write reports its end and keeps the bytes")
    func end() throws {
        let writer = try connection().writer
        var outgoing = OutgoingBytes()
        outgoing.append(sample(100))
        let isOpen = outgoing.write(to: writer)
        #expect(!isOpen)
        #expect(outgoing.count == 100)
    }
}
