import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("A URL")
struct URLParserTests {
    @Test(
        "the origin of a URL is in lower case, and has the default port if the URL has no port",
        arguments: [
            ("https://example.org/a?b#c", "https://example.org:443"),
            ("http://example.org", "http://example.org:80"),
            ("HTTPS://Example.ORG:8443/", "https://example.org:8443"),
            ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81"),
            ("http://127.0.0.1/", "http://127.0.0.1:80"),
            // Network libraries accept this spelling of an address.
            ("http://0x7f000001/", "http://127.0.0.1:80"),
        ])
    func origin(url: String, origin: String) throws {
        #expect(try URLParser.origin(of: url).text == origin)
    }

    @Test(
        "an international host name gets its ASCII form, and the rest of the URL stays as it is",
        arguments: [
            ("https://b\u{FC}cher.example/\u{FC}?a#b", "https://xn--bcher-kva.example/\u{FC}?a#b"),
            ("http://B\u{DC}CHER.example:81", "http://xn--bcher-kva.example:81"),
            // The letter and its accent are two characters.
            ("http://bu\u{308}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}/", "http://xn--r8jz45g.xn--zckzah/"),
            ("http://fa\u{DF}.example/", "http://xn--fa-hia.example/"),
            ("http://example.org/\u{FC}", "http://example.org/\u{FC}"), ("no URL \u{FC}", "no URL \u{FC}"),
        ])
    func international(url: String, ascii: String) throws {
        #expect(try HostName.ascii(url: url) == ascii)
    }

    @Test(
        "an invalid international host name is refused",
        arguments: [
            // U+2100 becomes "a/c", and U+FF0F becomes "/".
            "http://b\u{2100}.example/", "http://a\u{FF0F}b.example/", "http://-\u{FC}.example/",
            "http://\u{202E}a.example/", "http://" + String(repeating: "\u{FC}", count: 64) + ".example/",
        ])
    func invalidInternational(url: String) {
        let failure = #expect(throws: Failure.self) { try HostName.ascii(url: url) }
        #expect(failure?.message.hasPrefix("the URL's server has an invalid international name") == true)
    }

    @Test(
        "a URL that is invalid or not supported is refused with a message",
        arguments: [
            "", "example.org", "/path", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "https://",
            "https:///path", "https://user@example.org/", "https://user:secret@example.org/", "https://example.org/a b",
            "https://example.org/\n", "https://example.org/\u{0}", " https://example.org/", "https://example.org:0/",
            "https://example.org:65536/", "https://example.org:http/", "https://exa mple.org/", "https://[::1/",
            "https:/example.org/", "https://b\u{FC}cher.example/", "https://" + String(repeating: "a", count: 20_000),
        ])
    func refused(url: String) {
        #expect {
            try URLParser.origin(of: url)
        } throws: { error in
            guard let failure = error as? Failure else { return false }
            return failure.status == .invalidArgument && !failure.message.isEmpty
        }
    }

    @Test(
        "the message about an invalid URL names the URL, and says what to write",
        arguments: [
            ("example.org/a?key=1", "the URL example.org/a?… has no scheme; begin it with https:// or http://"),
            (
                "ftp://example.org/",
                "the URL ftp://example.org/ has the scheme ftp, which is not supported; use https or http"
            ),
            (
                "file:///etc/passwd",
                "the URL file:///etc/passwd has the scheme file, which is not supported; use https or http"
            ),
            ("https://example.org:http/", "the URL https://example.org:http/ has no valid port; ports are 1 to 65535"),
            ("https:/example.org", "the URL https:/example.org has not two slashes before the name of its server"),
        ])
    func message(url: String, message: String) {
        let failure = #expect(throws: Failure.self) { try URLParser.origin(of: url) }
        #expect(failure?.message == message)
    }

    @Test("the origin of a URL does not depend on the URL that was parsed before")
    func remembered() {
        let urls = [
            "https://example.org/a", "https://example.org/b?c#d", "https://example.org", "https://example.org?/",
            "https://example.org?/x", "https://example.org#/", "https://example.org/@other.org/",
            "HTTPS://example.org/", "https://example.orgs/", "https://example.org:443/", "https://example.org:444/",
            "http://example.org/", "https://example.org/a b", "https://example.org/\u{1}",
            "https://user@example.org/", "https:///path", "", "https://b\u{FC}cher.example/",
            "https://example.org/" + String(repeating: "a", count: 20_000),
        ]
        for before in urls {
            for url in urls {
                var reader = OriginParser()
                _ = try? reader.origin(of: before)
                #expect(
                    read { () throws(Failure) in try reader.origin(of: url) }
                        == read { () throws(Failure) in
                            try URLParser.origin(of: url)
                        })
            }
        }
    }

    private func read(_ origin: () throws(Failure) -> Origin) -> Result<Origin, Failure> { Result(catching: origin) }

    @Test("the password of a URL is not shown in messages")
    func secret() {
        #expect {
            try URLParser.origin(of: "https://user:secret@example.org/")
        } throws: { error in
            (error as? Failure)?.message.contains("secret") == false
        }
    }

    @Test(
        "the URL of a redirect is resolved from its Location and the base URL",
        arguments: [
            ("/b", "http://a/x/y", "http://a/b"),
            ("b", "http://a/x/y", "http://a/x/b"),
            ("//b/c", "https://a/x", "https://b/c"),
            ("?q", "http://a/x", "http://a/x?q"),
            ("https://b:444/c", "http://a/x", "https://b:444/c"),
            ("//B\u{DC}CHER.example/\u{FC}", "http://a/x", "http://xn--bcher-kva.example/%c3%bc"),
            ("https://b%C3%BCcher.example:81/?q", "http://a/x", "https://xn--bcher-kva.example:81/?q"),
            ("/b?c#\u{FC} d#%20", "http://a/x", "http://a/b?c#%c3%bc%20d#%20"),
        ])
    func resolved(location: String, base: String, url: String) throws {
        #expect(try URLParser.resolve(Array(location.utf8), against: base).url == url)
    }

    @Test(
        "a location without encryption is used only if the request had none; the case of a scheme does not matter",
        arguments: [
            ("/files/1", "HTTP://h/files", "http://h/files/1"),
            ("HTTP://h/files/1", "http://h/files", "http://h/files/1"),
            ("/files/1", "HttpS://h/files", "https://h/files/1"),
            ("http://h/files/1", "HTTPS://h/files", nil),
            ("http://h/files/1", "s3://h/files", nil),
        ] as [(String, String, String?)])
    func location(_ location: String, of url: String, _ expected: String?) {
        let fields = [ResponseField("Location", location)]
        let head = ResponseHead(status: 201, finalURL: url, isMultiplexed: false, fields: fields)
        #expect(URLParser.location(of: head) == expected)
    }
}

@Suite("The decision on a redirect")
struct RedirectDecisionTests {
    private let secure = Origin(scheme: "https", server: "a", port: 443)
    private let plain = Origin(scheme: "http", server: "a", port: 80)

    private func decide(_ location: String, from origin: Origin, keepsHeaders: Bool = true) throws -> Redirect {
        try Redirect.decide(
            Array(location.utf8), from: origin.text + "/", origin, keepsHeaders: keepsHeaders, count: 0, limit: 20)
    }

    @Test("a redirect to the international form of a name stays within the origin")
    func international() throws {
        let origin = Origin(scheme: "https", server: "xn--bcher-kva.example", port: 443)
        let redirect = try decide("https://b\u{FC}cher.example/b", from: origin)
        #expect(redirect.origin == origin && redirect.keepsHeaders)
        #expect(redirect.url == "https://xn--bcher-kva.example/b")
        #expect(try !decide("https://b\u{FC}cher2.example/b", from: origin).keepsHeaders)
    }

    @Test(
        "a redirect to an invalid international name is refused",
        arguments: [
            // U+2100 becomes "a/c", and U+FF0F becomes "/". The last name is not UTF-8.
            Array("https://b\u{2100}.example/".utf8), Array("https://a\u{FF0F}b.example/".utf8),
            Array("https://b%ef%bc%8fb.example/".utf8), [UInt8]("https://b".utf8) + [0xFC] + "cher.example/".utf8,
        ])
    func invalidInternational(location: [UInt8]) {
        let failure = #expect(throws: Failure.self) {
            try Redirect.decide(
                location, from: "https://a/", secure, keepsHeaders: true, count: 0, limit: 20)
        }
        #expect(failure?.status == .redirectRefused)
        #expect(failure?.message.contains("invalid international name") == true)
    }

    @Test("a redirect keeps the headers only within the origin")
    func headers() throws {
        #expect(try decide("/b", from: secure).keepsHeaders)
        #expect(try decide("https://a:443/b", from: secure).keepsHeaders)
        #expect(try !decide("https://b/", from: secure).keepsHeaders)
        #expect(try !decide("https://a:444/", from: secure).keepsHeaders)
        #expect(try !decide("https://a/", from: plain).keepsHeaders)
        #expect(try !decide("/b", from: secure, keepsHeaders: false).keepsHeaders)
    }

    @Test("a redirect from https to http is refused, but a redirect from http to https is allowed")
    func downgrade() throws {
        #expect(try decide("https://a/", from: plain).origin == secure)
        #expect {
            try decide("http://a/", from: secure)
        } throws: { error in
            (error as? Failure)?.status == .redirectRefused
        }
    }
}
