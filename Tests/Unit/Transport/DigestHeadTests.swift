import BackhaulModel
import BackhaulTransport
import Testing

/// Heads of 401 responses to a request with a Digest credential. libcurl may repeat such a request, so the transport
/// buffers the head.
@Suite("The head of a Digest challenge")
struct DigestHeadTests {
    private func request(_ server: RawServer) -> TransferRequest {
        var credentials = SessionCredentials()
        let space = ProtectionSpace(kind: .server, origin: server.url, realm: "r")
        credentials.storeResponse(
            Challenge(
                id: ChallengeID(rawValue: 7), space: space, schemes: .digest, failures: 0, timeMilliseconds: 0,
                waitingTasks: 1), .credential(user: "u", password: "p"))
        var request = TransportTests.request(server.url + "/a")
        request.credentials = credentials
        return request
    }

    @Test("a trailer field that looks like a status line does not replace the buffered head")
    func trailer() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nHTTP/1.1 200 OK: x\r\n\r\n")
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(request(server))
            #expect(server.requests.count == 2)
            #expect(server.requests.last?.contains("Authorization: Digest") == true)
            #expect(record.head?.status == 401)
            #expect(record.failure == nil)
        }
    }

    @Test("a folded challenge is refused, because libcurl reads only its first line")
    func folded() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\",\r\n nonce=\"n\"\r\n"
                        + "Content-Length: 0\r\n\r\n")
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(request(server))
            #expect(record.failure?.status == .badResponse)
            #expect(record.failure?.message.contains("challenge over two lines") == true)
        }
    }

    @Test("the response to the repeated request replaces the buffered head")
    func repeated() async throws {
        try await withServer { connection in
            while let request = connection.readRequest() {
                connection.send(
                    request.contains("Authorization")
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile"
                        : "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 404 No: x\r\n\r\n")
            }
        } _: { server, transferClient in
            let record = await transferClient.fetch(request(server))
            #expect(record.head?.status == 200)
            #expect(record.text == "file")
        }
    }
}
