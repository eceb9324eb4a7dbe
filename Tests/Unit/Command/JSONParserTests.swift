import Testing

@testable import backhaul

@Suite("A value of JSON")
struct JSONParserTests {
    private static func string(_ text: String) -> String? {
        guard case .string(let value)? = try? JSONParser.parse(text) else { return nil }
        return value
    }

    @Test("a character beyond U+FFFF is two escapes, one directly after the other")
    func surrogates() {
        #expect(Self.string(#""\ud83d\ude00""#) == "\u{1F600}")
        #expect(Self.string(#""\ud83d \ude00""#) == nil)
        #expect(Self.string(#""\ud83d""#) == nil)
        #expect(Self.string(#""\ud83d\u0041""#) == nil)
    }

    @Test("blanks separate values, and are part of a text")
    func blanks() {
        #expect(Self.string("\t\"a \\u0041\" \r\n") == "a A")
    }

    @Test("an object has many members, but no name twice")
    func members() throws {
        let members = (0..<5_000).map { "\"h\($0)\": \($0)" }
        guard case .object(let found) = try JSONParser.parse("{" + members.joined(separator: ", ") + "}") else {
            Issue.record("no object")
            return
        }
        #expect(found.map(\.0) == (0..<5_000).map { "h\($0)" })
        #expect(throws: CommandError.self) {
            try JSONParser.parse("{" + (members + ["\"h0\": 1"]).joined(separator: ", ") + "}")
        }
    }
}
