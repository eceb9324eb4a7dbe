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

    @Test("a credential is known to replace header fields with the same names")
    func replacement() {
        #expect(ChallengeResponse.headers([HeaderField("x-key", "new")]).replaces(fields))
        #expect(!ChallengeResponse.headers([HeaderField("Y", "")]).replaces(fields))
        #expect(ChallengeResponse.credential(user: "u", password: "p").replaces(fields))
        #expect(!ChallengeResponse.credential(user: "u", password: "p").replaces([HeaderField("Accept", "a")]))
        #expect(!ChallengeResponse.standard.replaces(fields))
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
