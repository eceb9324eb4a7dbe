@testable import BackhaulModel
import Testing

@Suite("Values of JSON documents")
struct JSONDocumentTests {
    private func value(_ place: String, _ document: String) -> String? {
        guard case .member(let tokens) = ResponseValue("json:\(place)") else { return nil }
        return JSONDocument.value(at: tokens, in: Array(document.utf8))
    }

    @Test(
        "a number is taken with all its digits",
        arguments: ["18446744073709551615", "-9223372036854775809", "0.10", "1E400", "-0", "3.14159265358979323846"])
    func numbers(_ number: String) {
        #expect(value("/id", #"{"id":\#(number)}"#) == number)
        #expect(value("/1", "[ 1 , \(number) ]") == number)
    }

    @Test(
        "a pointer leads through objects and arrays",
        arguments: [
            ("/a", #"{"a":"b"}"#, "b"), ("/", #"{"":"b"}"#, "b"), ("/a~1b/~0/0", #"{"a/b":{"~":["c"]}}"#, "c"),
            ("/b", #" { "a" : { "b" : [ 1, {}, "}" ] } , "b" : "c" } "#, "c"), ("/2/0", "[[],{},[5]]", "5"),
            ("/a", #"{"\u0061":"\u00e9\ud83d\ude00\n\"\\\/"}"#, "é😀\n\"\\/"), ("/a", #"{"a":1,"a":2}"#, "1"),
            ("/b", #"{"a":"\ud83d","\ud83d":"\\","b":true,"b":"x"}"#, nil), ("/c", #"{"a":"\ud83d\"","c":"x"}"#, "x"),
            ("/a", #"{"a":"\ud83d"}"#, nil), ("/a", #"{"a":"\ud83d\u0061"}"#, nil), ("/a", #"{"a":"\udc00"}"#, nil),
            ("/a", "{}", nil), ("/0", "[]", nil), ("/1", "[1]", nil), ("/00", "[1]", nil), ("/01", "[1,2]", nil),
            ("/-", "[1]", nil), ("/+0", "[1]", nil), ("/99999999999999999999", "[1]", nil), ("/0", #"{"a":1}"#, nil),
            ("/a", #"["a"]"#, nil), ("/a", "5", nil), ("/a", #""a""#, nil), ("/a", #"{"a":null}"#, nil),
            ("/a", #"{"a":[1]}"#, nil), ("/a/b", #"{"a":1,"b":2}"#, nil), ("/é", "{\"e\u{301}\":1}", nil),
        ] as [(String, String, String?)])
    func places(_ place: String, _ document: String, _ expected: String?) {
        #expect(value(place, document) == expected)
    }

    @Test("a document that is cut off has no wrong value")
    func cutOff() {
        let document = #"{"a":{"b":[1,"\u0061\"",{}]},"c":[true,-1.5e3],"d":"e"}"#
        for count in 0..<document.utf8.count - 1 {
            let bytes = Array(document.utf8.prefix(count))
            #expect(JSONDocument.value(at: ["d"], in: bytes) == nil)
            let number = JSONDocument.value(at: ["c", "1"], in: bytes)
            #expect("-1.5e3".hasPrefix(number ?? ""))
        }
    }
}
