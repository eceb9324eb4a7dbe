@testable import BackhaulModel
import Testing

@Suite("The XML documents of S3")
struct S3DocumentTests {
    @Test("elements, texts, entities, attributes and empty elements are read")
    func read() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <A xmlns="http://example.org/"><B>a &lt;&amp;&#65;&#x42; b</B><C/><D x='1'/><E></E></A>
            """
        let root = try #require(S3Document(Array(text.utf8))?.root)
        #expect(root.name == "A" && root["B"] == "a <&AB b" && root.children.map(\.name) == ["B", "C", "D", "E"])
        #expect(root["C"] == "" && root["F"] == nil)
    }

    @Test(
        "a document with a wrong end, a DOCTYPE, an unknown entity or too many levels is refused",
        arguments: [
            "", "a", "<a>", "<a></b>", "</a>", "<a", "<!DOCTYPE a><a/>", "<a>&b;</a>", "<a>&lt</a>",
            "<a>&#x110000;</a>", "<a>&#x+41;</a>", "<a>&#+65;</a>",
            "<1/>", "x<a/>", "<a><!-- b --></a>", "<a><![CDATA[b]]></a>",
            String(repeating: "<a>", count: 9) + String(repeating: "</a>", count: 9),
            "<a>" + String(repeating: "<b/>", count: 20_001) + "</a>",
        ])
    func refused(_ text: String) { #expect(S3Document(Array(text.utf8)) == nil) }

    @Test("a document that is too large is refused")
    func size() {
        let text = "<a>" + String(repeating: "b", count: S3Document.sizeLimit) + "</a>"
        #expect(S3Document(Array(text.utf8)) == nil)
    }

    @Test("cut or changed documents never stop the process")
    func damaged() {
        let text = Array("<?xml?><Error a='b'><Code>SlowDown</Code><Message>a &amp; b</Message></Error>".utf8)
        var random = Random(seed: 1)
        for _ in 0..<5_000 {
            var bytes = Array(text.prefix(random.number(0...text.count)))
            if !bytes.isEmpty { bytes[random.number(0...bytes.count - 1)] = UInt8(random.number(0...255)) }
            _ = S3Document(bytes)
            _ = S3Error(bytes)
        }
    }

    @Test("the code of an error is read, also from a body that is cut")
    func error() {
        #expect(S3Error(Array("<Error><Code>ExpiredToken</Code></Error>".utf8))?.isOfExpiredCredentials == true)
        #expect(S3Error(Array("<Error><Code>ExpiredToken</Code><Mess".utf8))?.code == "ExpiredToken")
        #expect(S3Error(Array("<html><Code>ExpiredToken</Code></html>".utf8)) == nil)
    }
}
