import BackhaulModel
import BackhaulTransport
import Testing

/// The *host's headers* are the headers that the host sets. A *delegate* is the object that receives a transfer's
/// response.
@Suite("A redirect")
struct RedirectTests {
    private static func redirect(to location: String, status: Int = 302, body: String = "") -> String {
        "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let file = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile"

    @Test("a redirect is followed, and the delegate gets only the last response", arguments: [301, 302, 303, 307, 308])
    func followed(status: Int) async throws {
        try await withServer { connection in
            while let head = connection.readRequest() {
                let isLast = head.hasPrefix("GET /b/end ")
                connection.send(isLast ? Self.file : Self.redirect(to: "../b/end", status: status, body: "moved"))
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch("\(server.url)/a/start")
            #expect(record.end == .complete)
            #expect(record.heads == 1)
            #expect(record.text == "file")
            #expect(record.head?.finalURL == "\(server.url)/b/end")
            #expect(record.metrics.redirects == 1)
            // The body of the redirect was read, so the connection was reused.
            #expect(record.metrics.reusedConnection)
        }
    }

    @Test("a redirect with a large body is followed without reading the whole body")
    func largeBody() async throws {
        try await withServer { connection in
            while let head = connection.readRequest() {
                if head.hasPrefix("GET /end ") {
                    connection.send(Self.file)
                } else {
                    connection.send("HTTP/1.1 302 Moved\r\nLocation: /end\r\n\r\n")
                    while connection.send(String(repeating: "moved", count: 1_000)) {}
                    return
                }
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.text == "file")
        }
    }

    @Test("a redirect with spaces or non-ASCII letters in Location is followed")
    func sloppyLocation() async throws {
        try await withServer { connection in
            while let head = connection.readRequest() {
                connection.send(head.hasPrefix("GET /a%20%c3%bc ") ? Self.file : Self.redirect(to: "/a ü"))
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.head?.finalURL == "\(server.url)/a%20%c3%bc")
        }
    }

    @Test("a redirect to an international host name is followed to the ASCII form of the name")
    func international() async throws {
        try await withServer { connection in
            while let head = connection.readRequest() {
                let isLast = head.contains("Host: xn--bcher-kva.localhost:")
                connection.send(
                    isLast ? Self.file : Self.redirect(to: "http://b\u{FC}cher.localhost:\(connection.port)/b"))
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.text == "file")
            #expect(record.head?.finalURL.hasPrefix("http://xn--bcher-kva.localhost:") == true)
        }
    }

    @Test("redirects in a circle are refused when the limit of redirects is exceeded")
    func circle() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil { connection.send(Self.redirect(to: "/again")) }
        } _: { server, transferClient in
            var request = request(server.url)
            request.maximumRedirects = 5
            let record = await transferClient.fetch(request)
            #expect(record.failure?.status == .redirectRefused)
            #expect(record.isTransient == false)
            #expect(server.requests.count == 6)
        }
    }

    @Test(
        "a redirect to a URL that is not supported is refused",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/", "javascript:alert(1)", "http://user:secret@127.0.0.1/", "http://",
        ])
    func otherScheme(location: String) async throws {
        let record = try await fetch(from: Self.redirect(to: location))
        #expect(record.failure?.status == .redirectRefused)
        #expect(record.isTransient == false)
        #expect(record.heads == 0)
    }

    @Test(
        "the message about a refused redirect has no password and no query",
        arguments: [
            "ftp://127.0.0.1/a?X-Signature=secret", "http://user:secret/y@127.0.0.1/", "http://me:secret#y@127.0.0.1/",
            "http://127.0.0.1:x/?secret", "//me:secret?y@127.0.0.1:x/", "http://me:secret y@127.0.0.1/#secret",
        ])
    func secretTarget(location: String) async throws {
        let record = try await fetch(from: Self.redirect(to: location))
        #expect(record.failure?.status == .redirectRefused)
        #expect(record.failure?.message.contains("127.0.0.1") == true)
        #expect(record.failure?.message.contains("secret") == false)
    }

    @Test("a redirect to another origin drops the host's headers for all later hops, but not the range")
    func otherOrigin() async throws {
        // The first server redirects to the second server, and the second server redirects back to the first server.
        let other = try RawServer { connection in
            guard let head = connection.readRequest() else { return }
            let back = head.split(separator: " ")[1].dropFirst()
            connection.send(Self.redirect(to: "http://127.0.0.1:\(back)/end"))
        }
        let otherURL = other.url
        try await withServer { connection in
            while let head = connection.readRequest() {
                let isLast = head.hasPrefix("GET /end ")
                connection.send(isLast ? Self.file : Self.redirect(to: "\(otherURL)/\(connection.port)"))
            }
        } _: { server, transferClient in
            var request = request(server.url)
            request.headers = [HeaderField("X-Key", "secret"), HeaderField("Authorization", "Bearer 1")]
            request.range = (5, nil)
            let record = await transferClient.fetch(request)
            #expect(record.end == .complete)
            #expect(server.requests.count == 2)
            #expect(server.requests.first?.contains("X-Key: secret") == true)
            for head in [other.requests.first, server.requests.last] {
                #expect(head?.contains("secret") == false)
                #expect(head?.contains("Bearer") == false)
                #expect(head?.contains("Range: bytes=5-") == true)
            }
        }
        other.close()
    }

    @Test("a redirect within the origin keeps the host's headers")
    func sameOrigin() async throws {
        try await withServer { connection in
            while let head = connection.readRequest() {
                connection.send(head.hasPrefix("GET /end ") ? Self.file : Self.redirect(to: "/end"))
            }
        } _: { server, transferClient in
            var request = request(server.url)
            request.headers = [HeaderField("X-Key", "secret")]
            _ = await transferClient.fetch(request)
            #expect(server.requests.last?.contains("X-Key: secret") == true)
        }
    }

    @Test(
        "a redirect without Location and a 304 are final responses",
        arguments: [
            "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nLocation: /elsewhere\r\n\r\n",
        ])
    func noPlace(response: String) async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.send(response)
        } _: { server, transferClient in
            let record = await transferClient.fetch(server.url)
            #expect(record.end == .complete)
            #expect(record.heads == 1)
            #expect(server.requests.count == 1)
        }
    }
}
