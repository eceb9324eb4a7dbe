import BackhaulModel
import BackhaulPlatform
import BackhaulTransport
import CLinux
import Glibc
import Testing

/// RFC 9112, section 6.3: bytes that no request has asked for make a connection unusable.
@Suite("A used connection")
struct ConnectionReuseTests {
    static let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

    @Test("is reused when the server has sent nothing but its responses")
    func clean() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
            }
        } _: { server, browser in
            _ = await browser.fetch(server.url)
            let second = await browser.fetch(server.url)
            #expect(second.text == "good")
            #expect(second.metrics.reusedConnection)
        }
    }

    @Test("on which a stray response waits is not used for the next request", arguments: [
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
        } _: { server, browser in
            let first = await browser.fetch(server.url)
            firstHasEnded.change { $0 = true }
            server.waitForArrivals(1)
            let second = await browser.fetch(server.url)
            #expect(first.text == "good")
            #expect(second.text == "good")
            #expect(second.head?.status == 200)
            #expect(!second.metrics.reusedConnection)
        }
    }

    @Test("on which more came with a response than belongs to it is not used again", arguments: [
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: 1\r\n\r\n",
    ])
    func excessInOneSegment(response: String) async throws {
        try await withServer { connection in
            while connection.readRequest() != nil { connection.send(response + "HTTP/1.1 200 OK\r\nContent-Le") }
        } _: { server, browser in
            let first = await browser.fetch(server.url)
            let second = await browser.fetch(server.url)
            for record in [first, second] {
                #expect(record.end == .complete)
                #expect(!record.metrics.reusedConnection)
            }
        }
    }
}

extension RawServer.Connection {
    /// Returns when the client's kernel has acknowledged all bytes.
    func sendAndAwaitArrival(_ text: String) {
        send(text)
        var unsent: Int32 = 1
        while ioctl(descriptor, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0 { sched_yield() }
        noteArrival()
    }
}
