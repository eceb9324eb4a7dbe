import BackhaulModel
import BackhaulPlatform
import BackhaulTransport
import CLinux
import Glibc
import Testing

/// Bytes that belong to no response make a connection unusable (RFC 9112, section 6.3).
@Suite("The reuse of a connection")
struct ConnectionReuseTests {
    static let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

    @Test("a connection is reused if the server has sent only responses to requests")
    func clean() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
            }
        } _: { server, transferClient in
            _ = await transferClient.fetch(server.url)
            let second = await transferClient.fetch(server.url)
            #expect(second.text == "good")
            #expect(second.metrics.reusedConnection)
        }
    }

    @Test(
        "a connection is not reused if unexpected bytes arrive while it is idle",
        arguments: [
            Self.stray, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "\r\n", "H",
        ])
    func strayWhileIdle(stray: String) async throws {
        let firstHasEnded = Lock(false)
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
                _ = firstHasEnded.wait(until: nil) { $0 ? true : nil }
                connection.sendAndAwaitArrival(stray)
            }
        } _: { server, transferClient in
            let first = await transferClient.fetch(server.url)
            firstHasEnded.change { $0 = true }
            server.waitForArrivals(1)
            let second = await transferClient.fetch(server.url)
            #expect(first.text == "good")
            #expect(second.text == "good")
            #expect(second.head?.status == 200)
            #expect(!second.metrics.reusedConnection)
        }
    }

    /// Runs a server that sends a valid response to the first request of each connection, and `bytes` to later
    /// requests.
    private func withBrokenReuse(
        by bytes: String, _ body: (RawServer, TransferClient) async throws -> Void
    ) async throws {
        try await withServer(
            { connection in
                guard connection.readRequest() != nil else { return }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
                while connection.readRequest() != nil { connection.send(bytes) }
            }, body)
    }

    /// A server can send the end of a response late, after the client has sent the next request on the connection. Then
    /// the next bytes that the client receives are not HTTP.
    @Test(
        "if a response on a reused connection is not HTTP, the request is repeated on a new connection",
        arguments: [
            "0123456789\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nbroken\r\n\r\n",
        ])
    func brokenResponse(bytes: String) async throws {
        try await withBrokenReuse(by: bytes) { server, transferClient in
            _ = await transferClient.fetch(server.url)
            let second = await transferClient.fetch(server.url)
            #expect(second.end == .complete)
            #expect(second.text == "good")
            #expect(!second.metrics.reusedConnection)
            #expect(server.requests.count == 3)
        }
    }

    @Test("a request on a reused connection fails if the response is HTTP with contradictory fields")
    func contradiction() async throws {
        let response = "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
        try await withBrokenReuse(by: response) { server, transferClient in
            _ = await transferClient.fetch(server.url)
            let second = await transferClient.fetch(server.url)
            #expect(second.failure?.status == .redirectRefused)
            #expect(server.requests.count == 2)
        }
    }

    @Test("a request that must not be repeated fails if the response on a reused connection is not HTTP")
    func brokenResponseToPost() async throws {
        try await withBrokenReuse(by: "0123456789\r\n") { server, transferClient in
            _ = await transferClient.fetch(server.url)
            var post = request(server.url)
            (post.method, post.canBeRepeated) = ("POST", false)
            let second = await transferClient.fetch(post, bodySize: 5)
            #expect(second.failure?.status == .badResponse)
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        "a connection is not reused if additional bytes arrive together with a response",
        arguments: [
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: 1\r\n\r\n",
        ])
    func excessInOneSegment(response: String) async throws {
        try await withServer { connection in
            while connection.readRequest() != nil { connection.send(response + "HTTP/1.1 200 OK\r\nContent-Le") }
        } _: { server, transferClient in
            let first = await transferClient.fetch(server.url)
            let second = await transferClient.fetch(server.url)
            for record in [first, second] {
                #expect(record.end == .complete)
                #expect(!record.metrics.reusedConnection)
            }
        }
    }

    @Test(
        "a request without a body that must not be repeated is sent one time, although its connection was closed",
        arguments: ["LOCK", "POST", "X-OTHER"])
    func unrepeatableWithoutBody(method: String) async throws {
        try await withServer { connection in
            while let head = connection.readRequest(), head.hasPrefix("GET") {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
            }
        } _: { server, transferClient in
            _ = await transferClient.fetch(server.url)
            var second = request(server.url)
            (second.method, second.canBeRepeated) = (method, false)
            #expect(await transferClient.fetch(second).failure != nil)
            #expect(server.requests.count == 2)
        }
    }
}

extension RawServer.Connection {
    /// Sends the text, and returns when the client's kernel has acknowledged all bytes.
    func sendAndAwaitArrival(_ text: String) {
        send(text)
        var unsent: Int32 = 1
        while ioctl(descriptor, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0 { sched_yield() }
        noteArrival()
    }
}
