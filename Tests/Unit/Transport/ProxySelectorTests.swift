import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("The choice of a proxy")
struct ProxySelectorTests {
    struct Case: Sendable {
        var url: String
        var variables: [String: String]
        var route: String?
        var configuration = ProxyConfiguration()

        init(
            _ url: String, _ variables: [String: String], _ route: String?, proxy: String? = nil,
            exceptions: String? = nil
        ) {
            (self.url, self.variables, self.route) = (url, variables, route)
            configuration.url = proxy
            configuration.exceptions = exceptions
        }
    }

    static let cases: [Case] = [
        Case("http://a", ["http_proxy": "proxy:3128"], "http://proxy:3128"),
        Case("http://a", ["HTTP_PROXY": "proxy:3128"], nil),
        Case("http://a", ["http_proxy": "http://user:secret@Proxy.Example:3128/"], "http://proxy.example:3128"),
        Case("http://a", ["http_proxy": "proxy"], "http://proxy:1080"),
        Case("http://a", ["http_proxy": "socks.example.org:9"], "http://socks.example.org:9"),
        Case("http://a", ["https_proxy": "proxy:1"], nil),
        Case("https://a", ["HTTPS_PROXY": "https://proxy"], "https://proxy:443"),
        Case("https://a", ["https_proxy": "a:1", "HTTPS_PROXY": "b:2", "all_proxy": "c:3"], "http://a:1"),
        Case("https://a", ["ALL_PROXY": "[::1]:8080"], "http://[::1]:8080"),
        Case("http://a", ["all_proxy": "socks5h://proxy:1080"], "socks5h://proxy:1080"),
        Case("http://a", ["all_proxy": "SOCKS5H://proxy:1080"], "socks5h://proxy:1080"),
        Case("http://a", ["http_proxy": ""], nil),
        Case("http://a", [:], nil),
        Case("http://a", ["http_proxy": "p:1", "no_proxy": "b,a"], nil),
        Case("http://a", ["http_proxy": "p:1", "NO_PROXY": "a"], nil),
        Case("http://a", ["http_proxy": "p:1", "no_proxy": "*"], nil),
        Case("http://a", ["http_proxy": "p:1"], nil, proxy: "none"),
        Case("http://a", ["http_proxy": "p:1"], "socks5://q:2", proxy: "socks5://q:2"),
        // The exceptions of the environment apply only to the proxies of the environment.
        Case("http://a", ["no_proxy": "a"], "http://q:2", proxy: "http://q:2"),
        Case("http://a", [:], nil, proxy: "http://q:2", exceptions: "a"),
        Case("http://a", ["http_proxy": "p:1", "no_proxy": "b"], nil, exceptions: "a"),
        Case("http://b", ["http_proxy": "p:1", "no_proxy": "b"], "http://p:1", exceptions: "a"),
    ]

    @Test("the proxy of a URL comes from the configuration, or else from the environment variables", arguments: cases)
    func chosen(_ one: Case) throws {
        let origin = try URLParser.origin(of: one.url)
        let route = try ProxySelector.route(to: origin, one.configuration) { one.variables[$0] }
        #expect(route?.url == one.route)
    }

    @Test("a proxy's user and password come from the configuration, or else from the environment's URL")
    func user() throws {
        let origin = try URLParser.origin(of: "http://a")
        var configuration = ProxyConfiguration()
        let found = try ProxySelector.route(to: origin, configuration) { _ in "http://us%40er:pass%3Aword@p:1" }
        #expect(found == ProxyRoute(url: "http://p:1", user: "us@er", password: "pass:word"))
        (configuration.user, configuration.password) = ("other", "secret")
        let own = try ProxySelector.route(to: origin, configuration) { _ in "http://user:word@p:1" }
        #expect(own == ProxyRoute(url: "http://p:1", user: "other", password: "secret"))
    }

    @Test(
        "the failure for an invalid proxy URL does not show the URL",
        arguments: [
            "ftp://secret@p", "http://", "://secret", "http://me:secret@p:99999", "http://me:secret/y@p:1", "secret:x",
        ])
    func unreadable(_ text: String) throws {
        let origin = try URLParser.origin(of: "http://a")
        let failure = try #require(throws: Failure.self) {
            try ProxySelector.route(to: origin, ProxyConfiguration()) { $0 == "http_proxy" ? text : nil }
        }
        #expect(failure.status == .connectionFailed)
        #expect(failure.message.contains("http_proxy") && !failure.message.contains("secret"))
    }

    @Test("the route through an HTTP proxy has an origin, and the route through a SOCKS proxy has none")
    func names() {
        // If an HTTP response of the proxy demands a credential, the origin identifies the proxy. A SOCKS proxy sends
        // no HTTP responses.
        #expect(ProxyRoute(url: "http://p:1").origin == "http://p:1")
        #expect(ProxyRoute(url: "https://p:443").origin == "https://p:443")
        #expect(ProxyRoute(url: "socks5://p:1").origin == nil)
    }

    struct Exception: Sendable {
        var list: String
        var server: String
        var isFound: Bool
        init(_ list: String, _ server: String, _ isFound: Bool) {
            (self.list, self.server, self.isFound) = (list, server, isFound)
        }
    }

    static let exceptions: [Exception] = [
        Exception("*", "anything", true), Exception("*", "[::1]", true), Exception("a,*", "b", false),
        Exception("example.org", "example.org", true), Exception("example.org", "www.example.org", true),
        Exception(".example.org", "example.org", true), Exception(".example.org", "www.example.org", true),
        Exception("example.org", "notexample.org", false), Exception("www.example.org", "example.org", false),
        Exception("EXAMPLE.org.", "example.org", true), Exception("example.org", "example.org.", true),
        Exception("a, b\tc", "c", true), Exception("a b", "b", true), Exception(",,", "a", false),
        Exception("", "a", false), Exception(".", "a", false),
        Exception("10.0.0.0/8", "10.200.3.4", true), Exception("10.0.0.0/8", "11.0.0.1", false),
        Exception("192.168.0.0/23", "192.168.1.9", true), Exception("192.168.0.0/23", "192.168.2.9", false),
        Exception("10.0.0.1", "10.0.0.1", true), Exception("10.0.0.1", "10.0.0.10", false),
        Exception("10.0.0.1/33", "10.0.0.1", false), Exception("10.0.0.1/x", "10.0.0.1", false),
        Exception("10.0.0.1/+8", "10.0.0.1", false),
        Exception("0.0.0.0/0", "1.2.3.4", true), Exception("0.1", "10.0.0.1", false),
        Exception("::1", "[::1]", true), Exception("[::1]", "[::1]", true), Exception("0:0::1", "[::1]", true),
        Exception("fe80::/10", "[fe80::5%25eth0]", true), Exception("::/0", "10.0.0.1", false),
    ]

    @Test("the exceptions in no_proxy match names, addresses and networks as in libcurl", arguments: exceptions)
    func excepted(_ one: Exception) {
        #expect(ProxyExceptions(one.list).contains(one.server) == one.isFound)
    }
}
