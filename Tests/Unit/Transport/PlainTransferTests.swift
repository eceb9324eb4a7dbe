import BackhaulModel
import BackhaulTransport
import Testing

@Suite("A transfer")
struct PlainTransferTests {
    @Test("delivers head, body and end of a response")
    func whole() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello")
        } _: { server, browser in
            let record = await browser.fetch("\(server.url)/file")
            #expect(record.end == .complete)
            #expect(record.head?.status == 200)
            #expect(record.head?.finalURL == "\(server.url)/file")
            #expect(record.head?.value("etag") == "\"a\"")
            #expect(record.head?.isHTTP2 == false)
            #expect(record.text == "hello")
            #expect(record.heads == 1 && record.ends == 1)
        }
    }

    @Test("delivers the head of a response without a body")
    func noBody() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 204 No Content\r\nX-Note: here\r\n\r\n")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.head?.status == 204)
            #expect(record.head?.value("X-Note") == "here")
            #expect(record.pieces == 0)
        }
    }

    @Test("skips interim responses and the trailers of a chunked body")
    func interimAndTrailers() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n")
            connection.send("0\r\nX-Trailer: late\r\n\r\n")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.heads == 1)
            #expect(record.head?.status == 200)
            #expect(record.head?.value("Link") == nil)
            #expect(record.head?.value("X-Trailer") == nil)
            #expect(record.text == "hello world")
        }
    }

    @Test("requests a whole file without a range and without content codings")
    func plainRequest() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nraw")
        } _: { server, browser in
            let record = await browser.fetch("\(server.url)/a?b=c")
            let lines = (server.requests.first ?? "").split(separator: "\r\n").map { $0.lowercased() }
            #expect(lines.first == "get /a?b=c http/1.1")
            for name in ["range:", "if-range:", "accept-encoding:", "cookie:", "authorization:", "te:"] {
                #expect(!lines.contains { $0.hasPrefix(name) })
            }
            // The bytes are those of the representation, without decoding.
            #expect(record.text == "raw")
        }
    }

    @Test("requests the rest with a range and its validator")
    func rest() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 7-9/10\r\n")
            connection.send("Content-Length: 3\r\n\r\n789")
        } _: { server, browser in
            var request = request(server.url)
            request.offset = 7
            request.ifRange = "\"tag\""
            let record = await browser.fetch(request)
            let lines = (server.requests.first ?? "").split(separator: "\r\n")
            #expect(lines.contains("Range: bytes=7-"))
            #expect(lines.contains("If-Range: \"tag\""))
            #expect(record.head?.status == 206)
            #expect(record.text == "789")
        }
    }

    @Test("sends the host's headers, also empty ones")
    func headers() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        } _: { server, browser in
            var request = request(server.url)
            request.headers = [
                HeaderField("Authorization", "Bearer 1"), HeaderField("X-Empty", ""), HeaderField("User-Agent", "Mine"),
            ]
            _ = await browser.fetch(request)
            let lines = (server.requests.first ?? "").split(separator: "\r\n")
            #expect(lines.contains("Authorization: Bearer 1"))
            #expect(lines.contains("X-Empty:"))
            #expect(lines.filter { $0.hasPrefix("User-Agent:") } == ["User-Agent: Mine"])
        }
    }

    @Test("refuses to start with a line break in a header")
    func headerInjection() async throws {
        try await withServer { _ in } _: { server, browser in
            var request = request(server.url)
            request.headers = [HeaderField("X-Note", "a\r\nX-Other: b")]
            let record = await browser.fetch(request)
            #expect(record.failure?.status == .invalidArgument)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("refuses to start with an origin other than the URL's")
    func foreignOrigin() async throws {
        try await withServer { _ in } _: { server, browser in
            var request = request(server.url)
            request.origin.port &+= 1
            let record = await browser.fetch(request)
            #expect(record.failure?.status == .invalidArgument)
        }
    }

    @Test("reuses a connection")
    func connectionReuse() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        } _: { server, browser in
            let records = await browser.fetchInTurn([request(server.url), request(server.url)])
            #expect(records.map(\.metrics.reusedConnection) == [false, true])
            #expect(records[1].metrics.remoteAddress == "127.0.0.1")
        }
    }

    @Test("returns Retry-After in seconds")
    func retryAfter() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n")
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.head?.status == 503)
            #expect(record.head?.retryAfterSeconds == 17)
        }
    }

    @Test("delivers large bodies completely and in order")
    func large() async throws {
        let body = pattern(3_000_000)
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(body)
        } _: { server, browser in
            let record = await browser.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.brought(body))
        }
    }
}
