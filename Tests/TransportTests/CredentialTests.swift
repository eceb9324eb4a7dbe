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
            server: nil, proxy: .headers([HeaderField("Proxy-Authorization", "Bearer x")]), through: "http://p:1")
        #expect(hop.merged(into: asked) == asked)
        #expect(hop.proxyLines == ["Proxy-Authorization: Bearer x"])
        #expect(hop.proxy == "http://p:1")
        #expect(HopCredentials(server: nil, proxy: nil, through: "http://p:1").proxy == nil)
    }

    struct Proxied: Sendable {
        var scheme: String
        var variables: [String: String]
        var origin: String?
        init(_ scheme: String, _ variables: [String: String], _ origin: String?) {
            (self.scheme, self.variables, self.origin) = (scheme, variables, origin)
        }
    }

    static let proxied: [Proxied] = [
        Proxied("http", ["http_proxy": "proxy:3128"], "http://proxy:3128"),
        Proxied("http", ["HTTP_PROXY": "proxy:3128"], nil),
        Proxied("http", ["http_proxy": "http://user:secret@Proxy.Example:3128/"], "http://proxy.example:3128"),
        Proxied("http", ["http_proxy": "proxy"], "http://proxy:1080"),
        Proxied("http", ["https_proxy": "proxy:1"], nil),
        Proxied("https", ["HTTPS_PROXY": "https://proxy"], "https://proxy:443"),
        Proxied("https", ["https_proxy": "a:1", "HTTPS_PROXY": "b:2", "all_proxy": "c:3"], "http://a:1"),
        Proxied("https", ["ALL_PROXY": "[::1]:8080"], "http://[::1]:8080"),
        Proxied("http", ["all_proxy": "socks5://proxy:1080"], nil),
        Proxied("http", ["http_proxy": ""], nil),
        Proxied("http", ["http_proxy": "http://"], nil),
        Proxied("http", [:], nil),
    ]

    @Test("a connection that leads to another port or address is none to the proxy")
    func peers() {
        #expect(ProxyVariables.isPeer("http://proxy:3128", address: "10.0.0.1", port: 3128))
        #expect(!ProxyVariables.isPeer("http://proxy:3128", address: "10.0.0.1", port: 80))
        #expect(ProxyVariables.isPeer("http://10.0.0.1:80", address: "10.0.0.1", port: 80))
        #expect(!ProxyVariables.isPeer("http://10.0.0.1:80", address: "10.0.0.2", port: 80))
        #expect(ProxyVariables.isPeer("http://10.0.0.1:80", address: "::ffff:10.0.0.1", port: 80))
        #expect(ProxyVariables.isPeer("http://[::1]:80", address: "::1", port: 80))
    }

    @Test("the proxy is found where libcurl finds it", arguments: proxied)
    func proxy(_ proxied: Proxied) {
        #expect(ProxyVariables.origin(scheme: proxied.scheme) { proxied.variables[$0] } == proxied.origin)
    }
}
