@testable import BackhaulModel
import Testing

/// If a request does not state the name of the downloaded file, the name comes from the response's header
/// Content-Disposition, or else from the URL of the request.
@Suite("The file name from the server")
struct ServerFileNameTests {
    private func name(_ disposition: String?, url: String = "https://example.org/a/song.flac?x=/y#z") -> String {
        let lines = disposition.map { ["Content-Disposition: \($0)"] } ?? []
        return ServerFileName.choose(head(200, lines: lines, url: url), requested: url)
    }

    @Test(
        "the file name comes from Content-Disposition, and filename* has priority over filename",
        arguments: [
            ("attachment; filename=plain.txt", "plain.txt"),
            ("attachment; filename=\"with blank.txt\"", "with blank.txt"),
            ("inline; FileName = \"x.txt\" ; other=1", "x.txt"),
            ("attachment; filename=\"EURO.txt\"; filename*=utf-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
            ("attachment; filename*=UTF-8'en'%e2%82%ac; filename=EURO", "€"),
            ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
            ("attachment; filename=\"a \\\"quoted\\\" name\"", "a _quoted_ name"),
            ("attachment; filename=unquoted name.txt; size=3", "unquoted name.txt"),
            ("attachment; filename=\"naïve.txt\"", "naïve.txt"),
            ("attachment; filename=\"100%25.txt\"", "100%25.txt"),
            ("attachment; filename=first; filename=second", "first"),
            ("attachment; x=\"; filename=inside\"; filename=outside", "outside"),
            ("attachment; filename=\"open", "open"),
            // These names are Windows paths, with and without escaped backslashes.
            ("attachment; filename=\"C:\\dir\\file.txt\"", "file.txt"),
            ("attachment; filename=\"C:\\\\dir\\\\file.txt\"", "file.txt"),
        ])
    func disposition(_ text: String, _ expected: String) { #expect(name(text) == expected) }

    @Test(
        "directories, leading dots and invisible characters are removed from a file name of the server",
        arguments: [
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"/etc/passwd\"", "passwd"),
            ("attachment; filename*=UTF-8''..%2f..%2fetc%2fpasswd", "passwd"),
            ("attachment; filename=\"..\\..\\evil.dll\"", "evil.dll"),
            ("attachment; filename=\".bashrc\"", "bashrc"),
            ("attachment; filename=\" . .bashrc\"", "bashrc"),
            ("attachment; filename*=UTF-8''a%00b%0a%1bc", "abc"),
            ("attachment; filename*=UTF-8''a%e2%80%aetxt.exe", "atxt.exe"),
            ("attachment; filename*=UTF-8''%c2%a0%2e%2eb", "b"),
            ("attachment; filename=\"blank \t \"", "blank"),
            // Many file systems refuse these characters.
            ("attachment; filename=\"episode: 1?.mp3\"", "episode_ 1_.mp3"),
            ("attachment; filename*=UTF-8''%2A%3C%3E%7C.txt", "____.txt"),
            ("attachment; filename=\"end..\"", "end"), ("attachment; filename=\"end . .\"", "end"),
        ])
    func hostile(_ text: String, _ expected: String) { #expect(name(text) == expected) }

    @Test(
        "if Content-Disposition has no valid name, the file name is the last part of the URL",
        arguments: [
            nil, "", ";", ";;;=;", "attachment", "attachment; filename", "attachment; filename=",
            "attachment; filename=\"\"", "attachment; filename=\"..\"", "attachment; filename=\".\"",
            "attachment; filename=\"dir/\"",
            "attachment; filename=\" \"", "attachment; filename*=UTF-8''%ff%fe", "attachment; filename*=UTF-8''%zz",
            "attachment; filename*=UTF-8''%", "attachment; filename*=UTF-8'x.txt", "attachment; filename*=x.txt",
            "attachment; filename*=koi8-r''abc", "attachment; filename=\"bad \u{FFFD} bytes\"",
            "attachment; filename*=UTF-8''%2e%2e%2f", "\u{0}\u{1}; filename=",
        ] as [String?])
    func fallBack(_ text: String?) { #expect(name(text) == "song.flac") }

    @Test("a filename that is not UTF-8 is ISO-8859-1")
    func latin1() {
        func name(_ bytes: [UInt8]) -> String {
            var head = head(200, lines: [])
            head.fields.append(ResponseField("Content-Disposition", bytes))
            return ServerFileName.choose(head, requested: "https://example.org/x")
        }
        let start = Array("attachment; filename=".utf8)
        #expect(name(start + Array("\"foo-".utf8) + [0xE4] + Array(".html\"".utf8)) == "foo-ä.html")
        #expect(name(start + [0xE4, 0x85, 0x61]) == "äa")
        #expect(name(start + [0xC3, 0xA4]) == "ä")
    }

    @Test(
        "after redirects, the last URL names the file only if its name says more than that of the first",
        arguments: [
            ("https://a.org/tool.zip", "https://b.org/0f3c9e", "tool.zip"),
            ("https://a.org/tool.zip", "https://b.org/other.tar", "tool.zip"),
            ("https://a.org/download", "https://b.org/tool-1.2.zip?key=1", "tool-1.2.zip"),
            ("https://a.org/latest", "https://b.org/0f3c9e", "latest"),
            ("https://a.org/get/", "https://b.org/0f3c9e", "0f3c9e"),
            ("https://a.org/latest", "https://b.org/version 1. of 2", "latest"),
            ("https://a.org/", "https://b.org/", "download"),
        ])
    func redirected(_ requested: String, _ last: String, _ expected: String) {
        #expect(ServerFileName.choose(head(200, lines: [], url: last), requested: requested) == expected)
    }

    @Test("if filename* is invalid, the file name comes from filename")
    func fallBackToPlain() {
        #expect(name("attachment; filename=plain.txt; filename*=UTF-8''%ff") == "plain.txt")
    }

    @Test(
        "a URL's file name is percent-decoded once, without directories or leading dots; the default is `download`",
        arguments: [
            ("https://example.org/a%20b.txt", "a b.txt"), ("https://example.org/%252e", "%2e"),
            ("https://example.org/..%2f..%2fx", "x"), ("https://example.org/%2ehidden", "hidden"),
            ("https://example.org/", "download"), ("https://example.org", "download"),
            ("https://example.org?q=/x", "download"), ("https://example.org/%ff", "%ff"),
            ("https://example.org/%", "%"), ("https://example.org/%zz.jpg", "%zz.jpg"),
            ("https://example.org/dir/", "download"), ("nonsense", "download"), ("", "download"),
        ])
    func fromURL(_ url: String, _ expected: String) { #expect(name(nil, url: url) == expected) }

    @Test("a long file name is cut to at most 255 bytes after a whole character, and keeps its extension")
    func long() {
        let long = name("attachment; filename=\"\(String(repeating: "x", count: 10_000)).tar.gz\"")
        #expect(long.utf8.count == 255 && long.hasSuffix("x.gz"))
        let wide = name("attachment; filename*=UTF-8''\(String(repeating: "%e2%82%ac", count: 200)).txt")
        #expect(wide.utf8.count <= 255 && wide.utf8.count > 250 && wide.hasSuffix("€.txt"))
        let noExtension = name("attachment; filename=\"a.\(String(repeating: "x", count: 300))\"")
        #expect(noExtension.utf8.count == 255)
        let oneCharacter = name("attachment; filename=\"e\(String(repeating: "\u{301}", count: 300))\"")
        #expect((1...255).contains(oneCharacter.utf8.count))
    }

    /// Two letters of flags are one Character, so a search for Characters from the end of such a name needs quadratic
    /// time.
    @Test("a name of 25,000 letters of flags is cut")
    func flags() {
        let flags = String(repeating: "\u{1F1E6}", count: 25_000)
        #expect(name("attachment; filename=\"\(flags)\"") == String(repeating: "\u{1F1E6}", count: 62))
        #expect(name("attachment; filename=\"\(flags).txt\"") == String(repeating: "\u{1F1E6}", count: 62) + ".txt")
    }

    @Test(
        "a number stands before the extension of a name, and a long name is cut",
        arguments: [
            ("a.zip", 0, "a.zip"), ("a.zip", 1, "a (1).zip"), ("a.tar.gz", 12, "a (12).tar.gz"), ("a", 2, "a (2)"),
            // The letter before the last dot is one Character with the dot.
            ("a.b\u{D4E}.txt", 1, "a.b\u{D4E} (1).txt"),
            (".tar.gz", 1, ".tar (1).gz"), ("Mr. Smith", 1, "Mr. Smith (1)"), ("a (1).zip", 1, "a (1) (1).zip"),
            (String(repeating: "n", count: 251) + ".txt", 1, String(repeating: "n", count: 247) + " (1).txt"),
        ])
    func numbered(_ name: String, _ number: Int, _ expected: String) {
        #expect(ServerFileName.numbered(name, number) == expected)
    }
}
