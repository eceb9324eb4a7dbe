import Testing

@testable import backhaul

/// The line of an error's body that messages show.
@Suite struct ErrorBodyTests {
    @Test(
        "the first line with printable characters is shown, with escapes in place of control characters",
        arguments: [
            ("gone\nand more", "gone"), ("\u{feff}\r\n \t\nbusy\tnow", "busy now"),
            ("\u{1b}[2Jgone\u{202e}", "\\u{1b}[2Jgone\\u{202e}"), ("\u{1b}\u{7}\ngone", "gone"),
            ("<?xml version='1.0'?><Error/>", "<Error/>"), ("<!DOCTYPE html>\nx", nil), ("\u{0}\n", nil), ("", nil),
        ] as [(String, String?)])
    func lines(body: String, line: String?) {
        #expect(ErrorBody.line(Array(body.utf8)) == line)
    }

    @Test("bytes that are not valid UTF-8 are left out, and a long line is cut")
    func invalid() {
        #expect(ErrorBody.line([0xff, 0x67, 0x6f, 0xfe]) == "go")
        #expect(ErrorBody.line([UInt8](repeating: 0x61, count: 500))?.count == ErrorBody.longestLine)
    }
}
