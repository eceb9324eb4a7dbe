import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("What a hop carries")
struct CredentialTests {
    private let asked = [HeaderField("Accept", "a"), HeaderField("authorization", "old"), HeaderField("X-Key", "k")]

    @Test("an answer replaces what the request has of the same name")
    func merged() {
        let basic = HopCredentials(server: .credential(user: "u", password: "p"), proxy: nil, through: nil)
        #expect(basic.merged(into: asked).map(\.name) == ["Accept", "X-Key"])
        #expect(basic.user == "u" && basic.password == "p")
        let headers = HopCredentials(
            server: .headers([HeaderField("x-key", "new"), HeaderField("Y", "")]), proxy: nil, through: nil)
        #expect(headers.merged(into: asked).map(\.value) == ["a", "old", "new", ""])
        #expect(HopCredentials().merged(into: asked) == asked)
    }

    @Test("what is for the proxy stays apart from what is for the server")
    func apart() {
        let hop = HopCredentials(
            server: nil, proxy: .headers([HeaderField("Proxy-Authorization", "Bearer x")]),
            through: ProxyRoute(url: "http://p:1", user: "old", password: "o"))
        #expect(hop.merged(into: asked) == asked)
        #expect(hop.proxyLines == ["Proxy-Authorization: Bearer x"])
        #expect(hop.proxyUser == nil && hop.proxyPassword == nil)
    }

    @Test("an answer for a proxy replaces what the configuration has for it")
    func replaced() {
        let route = ProxyRoute(url: "http://p:1", user: "old", password: "o")
        #expect(HopCredentials(server: nil, proxy: nil, through: route).proxyUser == "old")
        let hop = HopCredentials(server: nil, proxy: .credential(user: "new", password: "n"), through: route)
        #expect(hop.proxyUser == "new" && hop.proxyPassword == "n")
    }
}
