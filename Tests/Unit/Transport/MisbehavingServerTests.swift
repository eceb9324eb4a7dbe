import BackhaulModel
import BackhaulTransport
import Testing

@Suite("A misbehaving server")
struct MisbehavingServerTests {
    @Test("a transfer ends at the request time-out if the server sends no byte")
    func silent() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.waitForEnd()
        } _: { server, transferClient in
            var request = request(server.url)
            request.requestTimeoutMilliseconds = 50
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.isTransient == true)
            #expect(record.failure?.message.contains("127.0.0.1:\(server.port)") == true)
            #expect(record.heads == 0)
        }
    }

    @Test("a transfer ends at the request time-out if the server never completes the TLS handshake")
    func silentHandshake() async throws {
        try await withServer { connection in
            connection.waitForEnd()
        } _: { server, transferClient in
            var request = request("https://127.0.0.1:\(server.port)/")
            request.requestTimeoutMilliseconds = 50
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.isTransient == true)
        }
    }

    @Test("a transfer that stalls during the body delivers the received bytes, and ends at the request time-out")
    func stalled() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.waitForEnd()
        } _: { server, transferClient in
            var request = request(server.url)
            request.requestTimeoutMilliseconds = 2_000
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .requestTimeout)
            #expect(record.text == "half")
        }
    }

    @Test("a response with too few bytes counts as a lost connection")
    func short() async throws {
        let record = try await fetch(from: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        #expect(record.failure?.status == .connectionLost)
        #expect(record.isTransient == true)
        #expect(record.text == "half")
    }

    @Test("a chunked body that ends early counts as a lost connection")
    func shortChunks() async throws {
        let record = try await fetch(from: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        #expect(record.failure?.status == .connectionLost)
        #expect(record.isTransient == true)
    }

    @Test("a body with too many bytes ends at Content-Length, and its connection is not reused")
    func tooLong() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalfmore")
            }
        } _: { server, transferClient in
            let first = await transferClient.fetch(server.url)
            let second = await transferClient.fetch(server.url)
            for record in [first, second] {
                #expect(record.end == .complete)
                #expect(record.text == "half")
                #expect(!record.metrics.reusedConnection)
            }
        }
    }

    @Test("a connection that the server closes without a response counts as lost")
    func noAnswer() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
        }
    }

    @Test("a connection that the server resets during the body counts as lost")
    func reset() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.reset()
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .connectionLost)
            #expect(record.isTransient == true)
        }
    }

    @Test("a response with endless header lines is a protocol error")
    func endlessHeader() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-More: and more\r\n") {}
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
            #expect(record.isTransient == false)
            #expect(record.heads == 0)
        }
    }

    @Test("a response with one endless header line is a protocol error")
    func endlessLine() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nX-Long: ")
            while connection.send(String(repeating: "long", count: 1_000)) {}
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
            #expect(record.isTransient == false)
        }
    }

    @Test("endless interim responses are a protocol error")
    func endlessInterim() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            while connection.send("HTTP/1.1 103 Early Hints\r\n\r\n") {}
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
        }
    }

    @Test(
        "a response that is not HTTP is a protocol error",
        arguments: [
            "220 ftp.example ready\r\n", "\u{1}\u{2}\u{3}\r\n\r\n", "<html>an answer of HTTP/0.9</html>",
        ])
    func garbage(response: String) async throws {
        let record = try await fetch(from: response)
        #expect(record.failure?.status == .badResponse)
        #expect(record.isTransient == false)
    }

    @Test("a switch of protocols that the client did not request is a protocol error")
    func switching() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
            connection.waitForEnd()
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.failure?.status == .badResponse)
        }
    }

    @Test("control characters in a header field are removed from its stored text")
    func controlCharacters() async throws {
        let record = try await fetch(from: "HTTP/1.1 200 OK\r\nX-Note: a\u{1B}[31mb\r\nContent-Length: 0\r\n\r\n")
        #expect(record.head?.value("X-Note") == nil)
        #expect(record.head?.plainText("X-Note") == "a[31mb")
    }

    @Test("a server that does not listen causes a transient connection failure")
    func refused() async throws {
        let server = try RawServer { _ in }
        server.close()
        let transferClient = try TransferClient()
        let record = await transferClient.fetch(server.url)
        #expect(record.failure?.status == .connectionFailed)
        #expect(record.isTransient == true)
        #expect(record.failure?.domain == .curl)
        transferClient.close()
    }

    @Test("an unknown host name causes a transient failure of name resolution")
    func unknownName() async throws {
        let transferClient = try TransferClient()
        // The domain "invalid" never exists (RFC 6761, section 6.4).
        let record = await transferClient.fetch("http://server.invalid/")
        #expect(record.failure?.status == .nameNotResolved)
        #expect(record.isTransient == true)
        #expect(record.failure?.message.contains("server.invalid") == true)
        transferClient.close()
    }

    @Test("a server without TLS at an https URL causes a TLS failure")
    func noTLS() async throws {
        try await withServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitForEnd()
        } _: { server, transferClient in
            let record = await transferClient.fetch("https://127.0.0.1:\(server.port)/")
            #expect(record.failure?.status == .tlsFailed)
        }
    }
}
