@testable import BackhaulModel
import Testing

/// The *summary* is what the database keeps of the response for a task: its status, URL and header fields.
@Suite("The stored summary of a response")
struct ResponseSummaryTests {
    @Test("a summary lists ETag and other well-known headers first, with standard names, then all others in order")
    func allHeaders() {
        let summary = ResponseSummary(
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

    @Test("the stored summary of a response has a limited size, even for long headers")
    func bounded() {
        let long = String(repeating: "x", count: 1 << 20)
        let summary = ResponseSummary(
            head(200, "Content-Type: \(long)", "Link: \(long)", "ETag: \"a\"", url: "http://a/\(long)"))
        #expect(summary.mediaType == nil)
        #expect(summary.finalURL == nil)
        #expect(summary.headers == [HeaderField("ETag", "\"a\"")])
    }

    @Test("if a header does not fit into the stored summary, the summary still contains a shorter header after it")
    func fitting() {
        let half = String(repeating: "x", count: ResponseSummary.headersSize / 2)
        let summary = ResponseSummary(head(200, "A: \(half)", "B: \(half)", "C: small", url: "http://a/b"))
        #expect(summary.headers.map(\.name) == ["A", "C"])
    }

    @Test("the values of a header that is left out take no space from other headers")
    func omitted() {
        let long = String(repeating: "x", count: ResponseSummary.headersSize)
        let most = String(repeating: "x", count: ResponseSummary.headersSize - 100)
        let summary = ResponseSummary(head(200, "A: \(long)", "a: \(most)", "B: \(most)", url: "http://a/b"))
        #expect(summary.headers == [HeaderField("B", most)])
    }

    @Test("a repeated header is kept with all its values, or left out if one of them does not fit")
    func repeated() {
        let long = String(repeating: "x", count: ResponseSummary.headersSize)
        let values = (1...1_000).map { "Link: <\($0)>" }
        let summary = ResponseSummary(
            head(
                200,
                lines: ["etag: \"a\"", "A: 1", "ETag: \"b\"", "B: 1", "a: \(long)", "Date: \(monday)", "Date: \(long)"]
                    + values))
        #expect(
            summary.headers == [HeaderField("ETag", "\"a\""), HeaderField("ETag", "\"b\""), HeaderField("B", "1")])
    }

    @Test("if a file is complete without a further request, its stored summary has the checkpoint's URL and validators")
    func completeWithoutRequest() {
        let summary = ResponseSummary().completed(from: checkpoint(entityTag: "\"a\"", lastModified: "yesterday"))
        #expect(summary.finalURL == "http://a/b")
        #expect(summary.headers == [HeaderField("ETag", "\"a\""), HeaderField("Last-Modified", "yesterday")])
        #expect(summary.httpStatus == 0)
    }

    @Test("if a response has no validator, its stored summary has the checkpoint's validators")
    func continued() {
        let rest = ResponseSummary(head(206, "Content-Type: text/plain", url: "http://c/d"))
        let summary = rest.completed(from: checkpoint(lastModified: "yesterday"))
        #expect(summary.finalURL == "http://c/d")
        #expect(
            summary.headers == [HeaderField("Last-Modified", "yesterday"), HeaderField("Content-Type", "text/plain")])
        #expect(summary.httpStatus == 206)
    }

    @Test("if a response has a validator, its stored summary does not use the checkpoint's validators")
    func ownValidator() {
        let rest = ResponseSummary(head(206, "ETag: \"a\"", url: "http://a/b"))
        #expect(rest.completed(from: checkpoint(entityTag: "\"a\"", lastModified: "yesterday")) == rest)
    }

    private func checkpoint(entityTag: String? = nil, lastModified: String? = nil) -> Checkpoint {
        Checkpoint(
            validator: Validator(entityTag: entityTag, lastModified: lastModified), finalURL: "http://a/b", size: 10,
            syncedOffset: 10, bootID: "boot")
    }

    @Test("the stored summary of a response contains no secret of the request")
    func secrets() {
        var secrets = SecretRedactor()
        secrets.add(.headers([HeaderField("Authorization", "Bearer opensesame")]))
        let summary = ResponseSummary(head(200, "X-Echo: opensesame", url: "http://a/b"), secrets)
        #expect(summary.headers == [HeaderField("X-Echo", "**********")])
    }
}
