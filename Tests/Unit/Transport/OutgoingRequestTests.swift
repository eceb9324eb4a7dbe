import BackhaulModel
import BackhaulTransport
import CLinux
import Glibc
import Testing

/// A request body of `size` zeros.
final class Zeros: TransferBody {
    let size: UInt64
    private var sent: UInt64 = 0

    init(_ size: UInt64) { self.size = size }

    func read(into room: inout MutableRawSpan) -> BodyRead {
        let count = Int(min(UInt64(room.byteCount), size - sent))
        for index in 0..<count { room.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
        sent += UInt64(count)
        return .bytes(count)
    }

    func rewind() { sent = 0 }
}

@Suite("Sending a body")
struct OutgoingRequestTests {
    private static func send(
        _ size: UInt64, to server: RawServer, _ transferClient: TransferClient
    ) async -> TransferRecord {
        await transferClient.event { client, done in
            let recorder = RecordingDelegate()
            recorder.onEnd = { record in
                client.kept.removeAll { $0 === recorder }
                done(record)
            }
            client.kept.append(recorder)
            var one = request(server.url + "/")
            one.method = "PUT"
            one.expectation = .never
            one.requestTimeoutMilliseconds = 2_000
            recorder.transfer = try? client.transport.start(one, body: Zeros(size), recorder)
        }
    }

    @Test("an upload does not time out while the server reads slowly")
    func slowServer() async throws {
        let size = 6 << 20
        try await withServer(
            { connection in
                // The server's kernel buffers the bytes that the server has not read. The client does not notice when
                // the server reads bytes from this buffer. The client notices only that the kernel accepts more bytes.
                // So the buffer is small: the kernel can accept more bytes soon after the server has read some.
                var room: Int32 = 32 << 10
                setsockopt(connection.descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
                _ = connection.readRequest()
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                var taken = 0
                while taken < size {
                    usleep(20_000)
                    let count = recv(connection.descriptor, &buffer, buffer.count, 0)
                    if count <= 0 { return }
                    taken += count
                }
                connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            },
            { server, transferClient in
                let record = await Self.send(UInt64(size), to: server, transferClient)
                #expect(record.end == .complete && record.head?.status == 201, "\(String(describing: record.end))")
                let metrics = record.metrics
                #expect(metrics.requestBodyBytes == UInt64(size))
                #expect((metrics.requestEnd ?? 0) >= (metrics.requestStart ?? .max))
            })
    }

    @Test("an upload times out when the server stops reading")
    func stalledServer() async throws {
        try await withServer(
            { connection in
                _ = connection.readRequest()
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                _ = recv(connection.descriptor, &buffer, buffer.count, 0)
                // The server reads no more bytes, and waits until the client closes the connection.
                var poll = pollfd(descriptor: connection.descriptor)
                while Glibc.poll(&poll, 1, 100) == 0 {}
            },
            { server, transferClient in
                let record = await Self.send(64 << 20, to: server, transferClient)
                #expect(record.failure?.status == .requestTimeout)
            })
    }

    @Test("a response with status 417 to a request without Expect is the result of the request")
    func unexpected417() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
                connection.waitForEnd()
            }
        } _: { server, transferClient in
            var one = request(server.url)
            (one.method, one.canBeRepeated) = ("POST", false)
            let record = await transferClient.fetch(one, bodySize: 10)
            #expect(record.head?.status == 417 && server.requests.count == 1)
        }
    }
}

extension pollfd {
    /// Creates an entry that polls only for the end of the connection.
    fileprivate init(descriptor: Int32) {
        self.init(fd: descriptor, events: Int16(0x2000), revents: 0)
    }
}
