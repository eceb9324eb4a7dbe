import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("Credentials of a hop")
struct CredentialTests {
    private let fields = [HeaderField("Accept", "a"), HeaderField("authorization", "old"), HeaderField("X-Key", "k")]

    private func stored(
        _ response: ChallengeResponse, _ schemes: AuthenticationSchemes = .basic
    ) -> SessionCredentials.Credential? {
        var book = SessionCredentials()
        let space = ProtectionSpace(kind: .server, origin: "a", realm: "r")
        book.storeResponse(
            Challenge(
                id: ChallengeID(rawValue: 7), space: space, schemes: schemes, failures: 0, timeMilliseconds: 0,
                waitingTasks: 1), response)
        return book.credential(server: "a", url: "a/b")
    }

    @Test("libcurl may repeat a request by itself only after a Digest challenge")
    func repeats() {
        let credential = ChallengeResponse.credential(user: "u", password: "p")
        let digest = HopCredentials(server: stored(credential, [.digest, .basic]), proxy: nil, through: nil)
        #expect(digest.scheme == .digest)
        #expect(digest.mayRepeat(after: 401) && !digest.mayRepeat(after: 407) && !digest.mayRepeat(after: 403))
        #expect(!digest.belongsToConnection)
        let basic = HopCredentials(server: stored(credential), proxy: nil, through: nil)
        #expect(!basic.mayRepeat(after: 401))
        let ticket = stored(.credential(user: "", password: ""), [.negotiate, .basic])
        var negotiating = HopCredentials(server: ticket, proxy: nil, through: nil)
        #expect(negotiating.belongsToConnection && negotiating.user == nil && !negotiating.mayRepeat(after: 401))
        negotiating.present(NegotiateTokens(server: "abc", proxy: "def"))
        #expect(negotiating.merged(into: fields).last?.value == "Negotiate abc" && negotiating.proxyLines.isEmpty)
        let proxied = HopCredentials(server: nil, proxy: stored(credential, .digest), through: nil)
        #expect(proxied.mayRepeat(after: 407) && !proxied.mayRepeat(after: 401))
        let configured = HopCredentials(
            server: nil, proxy: nil, through: ProxyRoute(url: "http://p:1", user: "u", password: "p"))
        #expect(configured.mayRepeat(after: 407) && configured.proxyScheme == [.basic, .digest])
    }

    @Test("a Digest nonce belongs to one credential at one server")
    func nonces() {
        let digest = HopCredentials(
            server: stored(.credential(user: "u", password: "p"), .digest), proxy: nil, through: nil)
        let here = Origin(scheme: "http", server: "h", port: 80)
        let there = Origin(scheme: "http", server: "t", port: 80)
        #expect(HopCredentials().nonceOwner(at: here) == nil)
        #expect(digest.nonceOwner(at: here) != nil && digest.nonceOwner(at: here) != digest.nonceOwner(at: there))
    }

    @Test("the header fields of a credential replace the request's header fields with the same names")
    func merged() {
        let basic = HopCredentials(server: stored(.credential(user: "u", password: "p")), proxy: nil, through: nil)
        #expect(basic.merged(into: fields).map(\.name) == ["Accept", "X-Key"])
        #expect(basic.user == "u" && basic.password == "p")
        let headers = HopCredentials(
            server: stored(.headers([HeaderField("x-key", "new"), HeaderField("Y", "")])), proxy: nil, through: nil)
        #expect(headers.merged(into: fields).map(\.value) == ["a", "old", "new", ""])
        #expect(HopCredentials().merged(into: fields) == fields)
    }

    @Test("only the fields of a credential that have a protected name are withheld")
    func withheld() {
        let given = stored(.headers([HeaderField("x-key", "new"), HeaderField("Y", "y")]))
        var headers = HopCredentials(server: given, proxy: nil, through: nil)
        let isUnchanged = !headers.withhold(["authorization", "accept"])
        #expect(isUnchanged && headers.merged(into: fields).map(\.value) == ["a", "old", "new", "y"])
        let isChanged = headers.withhold(["x-key"])
        #expect(isChanged && headers.merged(into: fields).map(\.value) == ["a", "old", "k", "y"])
    }

    @Test("no user, password or token is sent in place of an Authorization field that is protected")
    func withheldPassword() {
        let password = stored(.credential(user: "u", password: "p"), .digest)
        var digest = HopCredentials(server: password, proxy: nil, through: nil)
        let isKept = !digest.withhold(["x-key"])
        #expect(isKept && digest.user == "u")
        let isWithheld = digest.withhold(["authorization"])
        #expect(isWithheld && digest.user == nil && digest.password == nil && !digest.mayRepeat(after: 401))
        #expect(digest.nonceOwner(at: Origin(scheme: "http", server: "h", port: 80)) == nil)
        #expect(digest.merged(into: fields) == fields)
        let ticket = stored(.credential(user: "", password: ""), [.negotiate, .basic])
        var negotiating = HopCredentials(server: ticket, proxy: nil, through: nil)
        let isTokenWithheld = negotiating.withhold(["authorization"])
        #expect(isTokenWithheld && !negotiating.needsToken && !negotiating.belongsToConnection)
    }

    /// The server sends the fields of the request back, and redirects `/away` to `/back` of another origin, and this to
    /// `/end` of the first one.
    @Test(
        "a credential replaces no refreshed header, until a redirect has left the origin of the request",
        arguments: [
            ("/end", "X-A: task|X-B: credential|X-C: credential"),
            ("/away", "X-A: credential|X-B: credential|X-C: credential"),
        ])
    func refreshed(_ path: String, _ sent: String) async throws {
        try await withServer({ connection in
            while let head = connection.readRequest() {
                let lines = head.split(separator: "\r\n")
                let (path, port) = (lines[0].split(separator: " ")[1], connection.port)
                let body = lines.filter { $0.hasPrefix("X-") }.sorted().joined(separator: "|")
                let places = ["/away": "http://localhost:\(port)/back", "/back": "http://127.0.0.1:\(port)/end"]
                let location = places[String(path)].map { "Location: \($0)\r\n" } ?? ""
                connection.send(
                    "HTTP/1.1 \(location.isEmpty ? 200 : 302) OK\r\n\(location)"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }) { server, transferClient in
            var credentials = SessionCredentials()
            let space = ProtectionSpace(kind: .server, origin: server.url, realm: nil)
            credentials.storeResponse(
                Challenge(
                    id: ChallengeID(rawValue: 7), space: space, schemes: .other, failures: 0, timeMilliseconds: 0,
                    waitingTasks: 1), .headers(["X-A", "X-B", "X-C"].map { HeaderField($0, "credential") }))
            var one = request(server.url + path)
            // X-B is a field of the session.
            (one.headers, one.refreshedNames) = ([HeaderField("X-A", "task"), HeaderField("X-B", "session")], ["x-a"])
            one.credentials = credentials
            #expect(await transferClient.fetch(one).text == sent)
        }
    }

    @Test("the credential for a proxy and the credential for a server are separate")
    func apart() {
        let hop = HopCredentials(
            server: nil, proxy: stored(.headers([HeaderField("Proxy-Authorization", "Bearer x")])),
            through: ProxyRoute(url: "http://p:1", user: "old", password: "o"))
        #expect(hop.merged(into: fields) == fields)
        #expect(hop.proxyLines == ["Proxy-Authorization: Bearer x"])
        #expect(hop.proxyUser == nil && hop.proxyPassword == nil)
    }

    @Test("a host's credential for a proxy replaces the user and password of the configuration")
    func replaced() {
        let route = ProxyRoute(url: "http://p:1", user: "old", password: "o")
        #expect(HopCredentials(server: nil, proxy: nil, through: route).proxyUser == "old")
        let given = stored(.credential(user: "new", password: "n"))
        let hop = HopCredentials(server: nil, proxy: given, through: route)
        #expect(hop.proxyUser == "new" && hop.proxyPassword == "n")
    }

    @Test(
        "a response accepts the sent credentials, unless it may come before they were checked",
        arguments: [
            (200, false, [1, 2]), (404, false, [1, 2]), (401, false, [2]), (407, false, []), (407, true, [2]),
            (408, false, []), (421, false, []), (425, false, []), (429, false, []), (500, false, []),
            (503, false, []), (511, false, []), (503, true, [2]),
        ] as [(Int32, Bool, [UInt64])])
    func acceptance(_ status: Int32, _ isTunnelled: Bool, _ accepted: [UInt64]) {
        var sent = SentCredentials()
        (sent.server, sent.proxy) = (1, 2)
        sent.noteAccepted(by: status, isTunnelled: isTunnelled)
        #expect(sent.accepted == accepted)
    }
}
