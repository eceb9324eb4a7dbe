import BackhaulModel
import BackhaulTransport
import Testing

@Suite("A misbehaving server")
struct MisbehavingServerTests {
    @Test("that sends no byte ends the transfer at the request timeout")
    func silent() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.waitForEnd()
        } _: { server, browser in
            var request = request(server.url)
            request.requestTimeoutMilliseconds = 50
            let record = await browser.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.isTransient == true)
            #expect(record.failure?.message.contains("127.0.0.1:\(server.port)") == true)
            #expect(record.heads == 0)
        }
    }

    @Test("that never completes the TLS handshake is a timeout, too")
    func silentHandshake() async throws {
        try await withServer { connection in
            connection.waitForEnd()
        } _: { server, browser in
            var request = request("https://127.0.0.1:\(server.port)/")
            request.requestTimeoutMilliseconds = 50
            let record = await browser.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.isTransient == true)
        }
    }

    @Test("that stalls during the body ends the transfer, and its bytes are delivered")
    func stalled() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.waitForEnd()
        } _: { server, browser in
            var request = request(server.url)
            request.requestTimeoutMilliseconds = 50
            let record = await browser.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.text == "half")
        }
    }

    @Test("that sends too few bytes is a lost connection")
    func short() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
            #expect(record.text == "half")
        }
    }

    @Test("that ends a chunked body early is a lost connection")
    func shortChunks() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
        }
    }

    @Test("that sends too many bytes is cut at Content-Length, and its connection is not reused")
    func tooLong() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalfmore")
            }
        } _: { server, browser in
            let first = await browser.fetch(server.url)
            let second = await browser.fetch(server.url)
            for record in [first, second] {
                #expect(record.end == .complete)
                #expect(record.text == "half")
                #expect(!record.metrics.reusedConnection)
            }
        }
    }

    @Test("that closes without a response is a lost connection")
    func noAnswer() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
        }
    }

    @Test("that resets the connection during the body is a lost connection")
    func reset() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.reset()
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
        }
    }

    @Test("with endless header lines is a protocol error")
    func endlessHeader() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-More: and more\r\n") {}
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
            #expect(record.isTransient == false)
            #expect(record.heads == 0)
        }
    }

    @Test("with an endless header line is a protocol error")
    func endlessLine() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nX-Long: ")
            while connection.send(String(repeating: "long", count: 1_000)) {}
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
            #expect(record.isTransient == false)
        }
    }

    @Test("with endless interim responses is a protocol error")
    func endlessInterim() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            while connection.send("HTTP/1.1 103 Early Hints\r\n\r\n") {}
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
        }
    }

    @Test("that does not send HTTP is a protocol error", arguments: [
        "220 ftp.example ready\r\n", "\u{1}\u{2}\u{3}\r\n\r\n", "<html>an answer of HTTP/0.9</html>",
    ])
    func garbage(answer: String) async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send(answer)
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
            #expect(record.isTransient == false)
        }
    }

    @Test("that switches protocols unasked is a protocol error")
    func switching() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
            connection.waitForEnd()
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
        }
    }

    @Test("with control characters in a field has them removed from the stored text")
    func controlCharacters() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nX-Note: a\u{1B}[31mb\r\nContent-Length: 0\r\n\r\n")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.head?.value("X-Note") == nil)
            #expect(record.head?.plainText("X-Note") == "a[31mb")
        }
    }

    @Test("that does not listen is a transient connection failure")
    func refused() async throws {
        let server = try RawServer { _ in }
        server.close()
        let browser = try Browser()
        let record = await browser.fetch(server.url)
        #expect(record.failure?.status == .connectionFailed)
        #expect(record.isTransient == true)
        #expect(record.failure?.domain == .curl)
        browser.close()
    }

    @Test("with an unknown name is a failed name resolution")
    func unknownName() async throws {
        let browser = try Browser()
        // The domain "invalid" never exists (RFC 6761, section 6.4).
        let record = await browser.fetch("http://server.invalid/")
        #expect(record.failure?.status == .nameNotResolved)
        #expect(record.isTransient == true)
        #expect(record.failure?.message.contains("server.invalid") == true)
        browser.close()
    }

    @Test("without TLS at an https URL is a TLS failure")
    func noTLS() async throws {
        try await withServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitForEnd()
        } _: { server, browser in
            let record = await browser.fetch("https://127.0.0.1:\(server.port)/")
            #expect(record.failure?.status == .tlsFailed)
        }
    }
}
