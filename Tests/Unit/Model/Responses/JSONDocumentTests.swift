@testable import BackhaulModel
import Testing

@Suite("Values of JSON documents")
struct JSONDocumentTests {
    private func value(_ place: String, _ document: String) -> String? {
        guard case .member(let tokens) = ResponseValue("json:\(place)") else { return nil }
        var document = JSONDocument(Array(document.utf8))
        return document.value(at: tokens)
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

    @Test("however many values are taken from a document, each object and each array is read one time")
    func manyValues() {
        let items = (0..<500).map { #"{"id":\#($0),"name":"n\#($0)"}"# }
        var document = JSONDocument(Array(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8))
        for _ in 0..<2 {
            for number in 0..<500 {
                let id = document.value(at: ["items", "\(number)", "id"])
                let name = document.value(at: ["items", "\(number)", "name"])
                #expect(id == "\(number)" && name == "n\(number)")
            }
        }
        #expect(document.arrays.count == 1)
        #expect(document.objects.count == 1 + 500)
    }

    @Test("a document that is cut off has no wrong value")
    func cutOff() {
        let text = #"{"a":{"b":[1,"\u0061\"",{}]},"c":[true,-1.5e3],"d":"e"}"#
        for count in 0..<text.utf8.count - 1 {
            var document = JSONDocument(Array(text.utf8.prefix(count)))
            let last = document.value(at: ["d"])
            #expect(last == nil)
            let number = document.value(at: ["c", "1"])
            #expect("-1.5e3".hasPrefix(number ?? ""))
        }
    }
}
