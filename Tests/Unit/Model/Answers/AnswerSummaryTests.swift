@testable import BackhaulModel
import Testing

@Suite("The stored summary of a response")
struct AnswerSummaryTests {
    @Test("has the selected headers first, with their standard names, and then the others in order")
    func allHeaders() {
        let summary = AnswerSummary(
            head(
                200, "x-one: 1", "etag: \"a\"", "Set-Cookie: a=1", "Content-Type: text/plain", "Set-Cookie: b=2",
                url: "http://a/b"))
        #expect(summary.httpStatus == 200)
        #expect(summary.finalURL == "http://a/b")
        #expect(summary.mediaType == "text/plain")
        #expect(
            summary.headers == [
                HeaderField("ETag", "\"a\""), HeaderField("Content-Type", "text/plain"), HeaderField("x-one", "1"),
                HeaderField("Set-Cookie", "a=1"), HeaderField("Set-Cookie", "b=2"),
            ])
        #expect(summary.errorBody == nil)
    }

    @Test("has a limited size, even for long headers")
    func bounded() {
        let long = String(repeating: "x", count: 1 << 20)
        let summary = AnswerSummary(
            head(200, "Content-Type: \(long)", "Link: \(long)", "ETag: \"a\"", url: "http://a/\(long)"))
        #expect(summary.mediaType == nil)
        #expect(summary.finalURL == nil)
        #expect(summary.headers == [HeaderField("ETag", "\"a\"")])
    }

    @Test("has as many headers as fit into 16 KiB")
    func fitting() {
        let half = String(repeating: "x", count: AnswerSummary.headersSize / 2)
        let summary = AnswerSummary(head(200, "A: \(half)", "B: \(half)", "C: small", url: "http://a/b"))
        #expect(summary.headers.map(\.name) == ["A", "C"])
    }

    @Test("contains no secret of the request")
    func secrets() {
        var secrets = SentSecrets()
        secrets.add(.headers([HeaderField("Authorization", "Bearer opensesame")]))
        let summary = AnswerSummary(head(200, "X-Echo: opensesame", url: "http://a/b"), secrets)
        #expect(summary.headers == [HeaderField("X-Echo", "**********")])
    }
}
