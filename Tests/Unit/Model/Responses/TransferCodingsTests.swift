import Testing

@testable import BackhaulModel

@Suite("The transfer codings of a response")
struct TransferCodingsTests {
    private func codings(_ values: String...) -> TransferCodings {
        TransferCodings(values.map { ResponseField("Transfer-Encoding", $0) })
    }

    @Test("chunked and identity are known, in upper and lower case")
    func known() {
        #expect(codings() == .none)
        #expect(codings("chunked") == .chunked)
        #expect(codings(" CHUNKED,") == .chunked)
        #expect(codings("Identity") == .identity)
        #expect(codings("identity, identity") == .identity)
        #expect(codings("identity", "chunked") == .chunked)
    }

    @Test(
        "each other coding is named in lower case, without control characters",
        arguments: [
            ("gzip, Chunked", "gzip, chunked"), ("chunked, chunked", "chunked, chunked"), ("", "none"), (",", "none"),
            ("chun\u{7F}ked", "chunked"), ("chun\u{212A}ed", "chun\u{212A}ed"), ("chunked;q=1", "chunked;q=1"),
        ])
    func other(value: String, name: String) { #expect(codings(value) == .other(name)) }

    @Test("only the coding identity keeps the length of Content-Length")
    func length() {
        func length(_ coding: String) -> ContentLength {
            ContentLength([ResponseField("Transfer-Encoding", coding), ResponseField("Content-Length", "5")])
        }
        #expect(length("identity") == .bytes(5))
        #expect(length("chunked") == .unknown)
        #expect(length("gzip") == .unknown)
    }
}
