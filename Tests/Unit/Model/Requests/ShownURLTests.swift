import BackhaulModel
import Testing

@Suite("A URL in a message")
struct ShownURLTests {
    @Test(
        "the user and the password of a URL are left out, also if the URL is malformed",
        arguments: [
            ("http://me:pass@example.org/b", "http://example.org/b"),
            ("https://token@example.org/b?c", "https://example.org/b?c"),
            ("http://me:x@pass@example.org/b", "http://example.org/b"),
            ("http://me:pass/y@example.org/b", "http://example.org/b"),
            ("http://me:pass#y@example.org/b", "http://example.org/b"),
            ("http://me:pass?y@example.org/b", "http://example.org/b"),
            ("http://me:pa@ss/w@example.org/b", "http://example.org/b"),
            ("http://me:pass y@example.org/b", "http://example.org/b"),
            ("http://me:pa://ss@example.org/b", "http://example.org/b"),
            ("http://me:123456/pass@example.org/b", "http://example.org/b"),
            ("http:/me:pass@example.org/b", "http:/example.org/b"),
            ("HTTP:me:pass@example.org/b", "HTTP:example.org/b"),
            ("http:\\\\me:pass\\x@example.org/b", "http:\\\\example.org/b"),
            ("http://me:pass@[::1/b", "http://[::1/b"),
            ("http://[me:pass@example.org/b", "http://example.org/b"),
            ("http://[::1]pass@example.org/b", "http://example.org/b"),
            ("ftp://me:pass@example.org/b", "ftp://example.org/b"),
            ("//me:pass@example.org/b", "//example.org/b"),
            ("me:pass@example.org/b", "example.org/b"),
            ("me:pa://ss@example.org/b", "example.org/b"),
            ("me:pass/x@example.org/b", "example.org/b"),
            ("me:pass/x@example.org@", ""),
        ])
    func user(text: String, shown: String) {
        #expect(ShownURL(text).text == shown)
        #expect(ShownURL(text).hasUser)
    }

    @Test(
        "the @ of a valid URL's path, query or fragment stays",
        arguments: [
            "https://example.org/@scope/name", "https://example.org:8443/a@b", "http://[2001:db8::1]:81/a@b",
            "https://example.org?mail=a@b", "https://example.org#a@b", "http://b\u{FC}cher.example/a@b",
            "http://example.org:/a@b", "http://[fe80::1%25eth0]/a@b", "example.org/@scope", "/path", "",
        ])
    func plain(text: String) {
        #expect(ShownURL(text).text == text)
        #expect(!ShownURL(text).hasUser)
    }

    @Test(
        "the query and the fragment of a URL are left out on request",
        arguments: [
            ("https://example.org/a?X-Signature=1&b#c", "https://example.org/a?…"),
            ("https://example.org/a#token", "https://example.org/a?…"),
            ("https://example.org/a", "https://example.org/a"),
            ("ftp://me:pass?word@example.org/a?b", "ftp://example.org/a?…"), ("?only", "?…"),
        ])
    func query(text: String, shown: String) {
        #expect(ShownURL(text).shortened == shown)
    }

    @Test("in a sentence, the user of each URL is left out")
    func sentence() {
        let text = ShownURL.withoutUsers("no command 'http://me:pa/ss@a.example/b', or (https://b.example/@c)  !")
        #expect(text == "no command 'http://a.example/b', or (https://b.example/@c)  !")
    }
}
