import BackhaulModel
import Testing

@Suite("What is kept of an answer")
struct AnswerSummaryTests {
    @Test("are the chosen headers, under their usual names, and nothing else")
    func chosenHeaders() {
        let summary = AnswerSummary(
            head(200, "etag: \"a\"", "Content-Type: text/plain", "Set-Cookie: secret=1", url: "http://a/b"))
        #expect(summary.httpStatus == 200)
        #expect(summary.finalURL == "http://a/b")
        #expect(summary.mediaType == "text/plain")
        #expect(summary.headers == [HeaderField("ETag", "\"a\""), HeaderField("Content-Type", "text/plain")])
        #expect(summary.errorBody == nil)
    }

    @Test("takes bounded room, whatever the server sends")
    func bounded() {
        let long = String(repeating: "x", count: 1 << 20)
        let summary = AnswerSummary(
            head(200, "Content-Type: \(long)", "Link: \(long)", "ETag: \"a\"", url: "http://a/\(long)"))
        #expect(summary.mediaType == nil)
        #expect(summary.finalURL == nil)
        #expect(summary.headers == [HeaderField("ETag", "\"a\"")])
    }
}
