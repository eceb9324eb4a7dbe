import BackhaulModel
import BackhaulTransport
import Testing

@Suite("A transfer")
struct PlainTransferTests {
    @Test("a transfer delivers the head, the body and the end of a response")
    func whole() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello")
        } _: { server, transferClient in
            let record = await transferClient.fetch("\(server.url)/file")
            #expect(record.end == .complete)
            #expect(record.head?.status == 200)
            #expect(record.head?.finalURL == "\(server.url)/file")
            #expect(record.head?.value("etag") == "\"a\"")
            #expect(record.head?.isMultiplexed == false)
            #expect(record.text == "hello")
            #expect(record.heads == 1 && record.ends == 1)
        }
    }

    @Test("a transfer delivers the head of a response without a body")
    func noBody() async throws {
        let record = try await fetch(from: "HTTP/1.1 204 No Content\r\nX-Note: here\r\n\r\n")
        #expect(record.end == .complete)
        #expect(record.head?.status == 204)
        #expect(record.head?.value("X-Note") == "here")
        #expect(record.chunks == 0)
    }

    @Test("a transfer skips interim responses and the trailer fields of a chunked body")
    func interimAndTrailers() async throws {
        let record = try await fetch(
            from: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n",
            "0\r\nX-Trailer: late\r\n\r\n")
        #expect(record.end == .complete)
        #expect(record.heads == 1)
        #expect(record.head?.status == 200)
        #expect(record.head?.value("Link") == nil)
        #expect(record.head?.value("X-Trailer") == nil)
        #expect(record.text == "hello world")
    }

    @Test("a transfer of a whole file sends no range and accepts no content coding")
    func plainRequest() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nraw")
        } _: { server, transferClient in
            let record = await transferClient.fetch("\(server.url)/a?b=c")
            let lines = (server.requests.first ?? "").split(separator: "\r\n").map { $0.lowercased() }
            #expect(lines.first == "get /a?b=c http/1.1")
            for name in ["range:", "if-range:", "accept-encoding:", "cookie:", "authorization:", "te:"] {
                #expect(!lines.contains { $0.hasPrefix(name) })
            }
            // The transport delivers the bytes without decoding them.
            #expect(record.text == "raw")
        }
    }

    @Test("a transfer requests the rest of a file with a range and the file's validator")
    func rest() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 7-9/10\r\n")
            connection.send("Content-Length: 3\r\n\r\n789")
        } _: { server, transferClient in
            var request = request(server.url)
            request.range = (7, nil)
            request.ifRange = "\"tag\""
            let record = await transferClient.fetch(request)
            let lines = (server.requests.first ?? "").split(separator: "\r\n")
            #expect(lines.contains("Range: bytes=7-"))
            #expect(lines.contains("If-Range: \"tag\""))
            #expect(record.head?.status == 206)
            #expect(record.text == "789")
        }
    }

    @Test("a transfer sends the headers of its request, even a header with an empty value")
    func headers() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        } _: { server, transferClient in
            var request = request(server.url)
            request.headers = [
                HeaderField("Authorization", "Bearer 1"), HeaderField("X-Empty", ""), HeaderField("User-Agent", "Mine"),
            ]
            _ = await transferClient.fetch(request)
            let lines = (server.requests.first ?? "").split(separator: "\r\n")
            #expect(lines.contains("Authorization: Bearer 1"))
            #expect(lines.contains("X-Empty:"))
            #expect(lines.filter { $0.hasPrefix("User-Agent:") } == ["User-Agent: Mine"])
        }
    }

    @Test("a transfer with a line break in a header does not start")
    func headerInjection() async throws {
        try await withServer { _ in
        } _: { server, transferClient in
            var request = request(server.url)
            request.headers = [HeaderField("X-Note", "a\r\nX-Other: b")]
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .invalidArgument)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a line break in a validator adds no line to the request")
    func validatorInjection() async throws {
        try await withServer { _ in
        } _: { server, transferClient in
            var request = request(server.url)
            request.range = (7, nil)
            request.ifRange = "\"tag\"\r\nX-Other: b"
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .invalidArgument)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a transfer does not start if its origin differs from the origin of its URL")
    func foreignOrigin() async throws {
        try await withServer { _ in
        } _: { server, transferClient in
            var request = request(server.url)
            request.origin.port &+= 1
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .invalidArgument)
        }
    }

    @Test("a second transfer reuses the connection of the first transfer")
    func connectionReuse() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        } _: { server, transferClient in
            let records = await transferClient.fetchOneByOne([request(server.url), request(server.url)])
            #expect(records.map(\.metrics.reusedConnection) == [false, true])
            #expect(records[1].metrics.remoteAddress == "127.0.0.1")
        }
    }

    @Test("a transfer returns Retry-After in seconds")
    func retryAfter() async throws {
        let record = try await fetch(from: "HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n")
        #expect(record.head?.status == 503)
        #expect(record.head?.retryAfterSeconds == 17)
    }

    @Test("a transfer delivers a large body completely and in order")
    func large() async throws {
        let body = pattern(3_000_000)
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(body)
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.hasBody(body))
        }
    }
}
