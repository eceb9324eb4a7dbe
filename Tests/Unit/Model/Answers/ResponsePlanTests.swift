import BackhaulModel
import Testing

@Suite("The plan for a response")
struct ResponsePlanTests {
    private static let largest = String(UInt64.max)
    private static let longest = String(Int64.max)

    @Test("to a request for the whole file", arguments: [
        Answer(.nothing, 200, "Content-Length: 1000", does: .startsOver(size: 1000)),
        Answer(.nothing, 200, "Content-Length: 0", does: .startsOver(size: 0)),
        Answer(.nothing, 200, does: .startsOver(size: nil)),
        Answer(.nothing, 203, "Content-Length: 1000", does: .startsOver(size: 1000)),
        Answer(.nothing, 204, does: .startsOver(size: 0)),
        Answer(.nothing, 205, "Content-Length: 10", does: .startsOver(size: 0)),
        Answer(.nothing, 299, does: .startsOver(size: nil)),
        Answer(.nothing, 200, "Content-Length: 10", "Content-Length: 10", does: .startsOver(size: 10)),
        Answer(.nothing, 200, "Content-Length: 10, 10", does: .startsOver(size: 10)),
        Answer(.nothing, 200, "Content-Length: 10", "Transfer-Encoding: chunked", does: .startsOver(size: nil)),
        Answer(.nothing, 200, "Content-Length: \(Self.longest)", does: .startsOver(size: UInt64(Int64.max))),
        Answer(.nothing, 200, "Content-Length: 9223372036854775808", does: .fails(.tooLarge)),
        Answer(.nothing, 200, "Content-Length: \(Self.largest)", does: .fails(.tooLarge)),
        Answer(.nothing, 200, "Content-Length: 99999999999999999999999", does: .fails(.tooLarge)),
        Answer(.nothing, 200, "Content-Length: 10, 11", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: 10", "Content-Length: 11", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: -1", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: +1", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: 1.0", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: ", does: .fails(.badResponse)),
        Answer(.nothing, 200, "Content-Length: 10,", does: .fails(.badResponse)),
        Answer(.nothing, 206, "Content-Range: bytes 0-999/1000", does: .fails(.badResponse)),
        Answer(.nothing, 416, "Content-Range: bytes */0", does: .fails(.httpStatus)),
    ])
    func wholeFile(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("with a status that is not a file", arguments: [
        Answer(.nothing, 300, does: .fails(.httpStatus)), Answer(.nothing, 302, does: .fails(.httpStatus)),
        Answer(.nothing, 304, does: .fails(.httpStatus)), Answer(.nothing, 400, does: .fails(.httpStatus)),
        Answer(.nothing, 401, does: .fails(.httpStatus)), Answer(.nothing, 403, does: .fails(.httpStatus)),
        Answer(.nothing, 404, does: .fails(.httpStatus)), Answer(.nothing, 407, does: .fails(.httpStatus)),
        Answer(.nothing, 408, does: .triesAgain), Answer(.nothing, 410, does: .fails(.httpStatus)),
        Answer(.nothing, 412, does: .fails(.httpStatus)), Answer(.nothing, 429, does: .triesAgain),
        Answer(.nothing, 500, does: .triesAgain), Answer(.nothing, 501, does: .fails(.httpStatus)),
        Answer(.nothing, 502, does: .triesAgain), Answer(.nothing, 503, does: .triesAgain),
        Answer(.nothing, 504, does: .triesAgain),
        Answer(.nothing, 505, does: .fails(.httpStatus)), Answer(.nothing, 599, does: .fails(.httpStatus)),
        Answer(.nothing, 0, does: .fails(.httpStatus)), Answer(.nothing, -1, does: .fails(.httpStatus)),
        Answer(.nothing, .max, does: .fails(.httpStatus)), Answer(.nothing, .min, does: .fails(.httpStatus)),
        // The bytes stay, and the next attempt resumes them.
        Answer(.tagged, 503, does: .triesAgain), Answer(.tagged, 429, does: .triesAgain),
        Answer(.tagged, 404, does: .fails(.httpStatus)),
    ])
    func notAFile(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("that contradicts an earlier one is to start over once", arguments: [
        // A strong entity tag promises the same bytes.
        Answer(.tagged, 200, "Content-Length: 0", "ETag: \"a\"", does: .startsOverOnce),
        Answer(.tagged, 200, "Content-Length: 500", "ETag: \"a\"", does: .startsOverOnce),
        Answer(.taggedOfUnknownSize, 200, "Content-Length: 499", "ETag: \"a\"", does: .startsOverOnce),
        Answer(.taggedOfUnknownSize, 200, "Content-Length: 900", "ETag: \"a\"", does: .startsOver(size: 900)),
        // Without a length, the file must have the earlier length in the end.
        Answer(.tagged, 200, "ETag: \"a\"", does: .startsOver(size: 1000)),
        Answer(.tagged, 202, "Content-Length: 10", does: .startsOverOnce),
        Answer(.tagged, 204, does: .startsOverOnce), Answer(.dated, 204, does: .startsOverOnce),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "Content-Range: bytes 0-499/1000", "ETag: \"a\"",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "ETag: \"b\"",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 416, "Content-Range: bytes */500", "Content-Range: bytes */1000", does: .triesAgainFromZero),
        // The response contradicts the checkpoint for the second time.
        Answer(.promised, 200, "Content-Length: 0", "ETag: \"a\"", does: .fails(.badResponse)),
        Answer(.promised, 204, does: .fails(.badResponse)),
        Answer(.promised, 200, "Content-Length: 1000", "ETag: \"a\"", does: .startsOver(size: 1000)),
        Answer(.promised, 200, "ETag: \"a\"", does: .startsOver(size: 1000)),
        Answer(.promised, 200, "Content-Length: 3", "ETag: \"b\"", does: .startsOver(size: 3)),
    ])
    func contradictions(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("to a request for the rest, with a strong entity tag", arguments: [
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", does: .appends(of: 1000, through: 1000)),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: 500",
            does: .appends(of: 1000, through: 1000)),
        Answer(.tagged, 206, "Content-Range: bytes 500-999/*", "ETag: \"a\"", does: .appends(of: 1000, through: 1000)),
        Answer(
            .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
            does: .appends(of: 1000, through: 1000)),
        // A part of the rest: a server may send less than requested.
        Answer(
            .tagged, 206, "Content-Range: bytes 500-599/1000", "ETag: \"a\"", does: .appends(of: 1000, through: 600)),
        Answer(.tagged, 206, "Content-Range: bytes 500-500/*", "ETag: \"a\"", does: .appends(of: 1000, through: 501)),
        // The entity tag decides, not the date, because servers of a cluster may have different dates.
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Last-Modified: \(tuesday)",
            does: .appends(of: 1000, through: 1000)),
        // The server ignores ranges, or the file has changed (If-Range).
        Answer(.tagged, 200, "Content-Length: 1000", "ETag: \"a\"", does: .startsOver(size: 1000)),
        Answer(.tagged, 200, "Content-Length: 800", "ETag: \"b\"", does: .startsOver(size: 800)),
        Answer(.tagged, 200, does: .startsOver(size: nil)),
        // The response does not prove that the file is the same.
        Answer(.tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"b\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: W/\"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"A\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-999/1000", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-998/999", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-1000/1001", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 500-1000/*", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 499-999/1000", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 501-999/1000", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes 0-999/1000", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: bytes */1000", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "Content-Range: nonsense", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 206, "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: 1000",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: junk",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
            "Content-Type: multipart/byteranges; boundary=x", does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/*", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(
            .taggedOfUnknownSize, 206, "Content-Range: bytes 500-\(Self.largest)/*", "ETag: \"a\"",
            does: .triesAgainFromZero),
        Answer(
            .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/\(Self.largest)", "ETag: \"a\"",
            does: .fails(.tooLarge)),
        Answer(.unvalidated, 206, "Content-Range: bytes 500-999/1000", does: .triesAgainFromZero),
        Answer(.unknown, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", does: .triesAgainFromZero),
    ])
    func rest(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("to a request for the rest, with Last-Modified", arguments: [
        Answer(
            .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(monday)",
            does: .appends(of: 1000, through: 1000)),
        // A 206 for an If-Range may omit Last-Modified (RFC 9110, section 15.3.7).
        Answer(.dated, 206, "Content-Range: bytes 500-999/1000", does: .appends(of: 1000, through: 1000)),
        Answer(
            .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(tuesday)", does: .triesAgainFromZero),
        // The file was changed in this second and has the same size. The date is no validator, but differs.
        Answer(
            .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(tuesday)", "Date: \(tuesday)",
            does: .triesAgainFromZero),
        Answer(
            .datedOfUnknownSize, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(monday)",
            does: .appends(of: 1000, through: 1000)),
        Answer(.dated, 200, "Content-Length: 1000", "Last-Modified: \(tuesday)", does: .startsOver(size: 1000)),
    ])
    func restByDate(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("from another URL than that of the stored bytes", arguments: [
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", url: "https://example.org/file?signed=2",
            does: .appends(of: 1000, through: 1000)),
        Answer(
            .dated, 206, "Content-Range: bytes 500-999/1000", url: "https://example.org/file?signed=2",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", url: "https://example.org/file2",
            does: .triesAgainFromZero),
        Answer(
            .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", url: "https://mirror.example.org/file",
            does: .triesAgainFromZero),
    ])
    func otherAddress(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("to a request for the rest, with 416", arguments: [
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: \"a\"", does: .isWhole),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", does: .isWhole),
        Answer(.datedOfUnknownSize, 416, "Content-Range: bytes */500", does: .isWhole),
        Answer(.datedOfUnknownSize, 416, "Content-Range: bytes */500", "Last-Modified: \(monday)", does: .isWhole),
        Answer(.bytes(of: 500, Validator(entityTag: "\"a\"")), 416, "Content-Range: bytes */500", does: .isWhole),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: \"b\"", does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: W/\"a\"", does: .triesAgainFromZero),
        Answer(
            .datedOfUnknownSize, 416, "Content-Range: bytes */500", "Last-Modified: \(tuesday)",
            does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */499", does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes */\(Self.largest)", does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 416, "Content-Range: bytes 0-499/500", does: .triesAgainFromZero),
        Answer(.taggedOfUnknownSize, 416, does: .triesAgainFromZero),
        Answer(.tagged, 416, "Content-Range: bytes */500", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.tagged, 416, "Content-Range: bytes */1000", "ETag: \"a\"", does: .triesAgainFromZero),
        Answer(.unvalidated, 416, "Content-Range: bytes */500", does: .triesAgainFromZero),
        Answer(.unknown, 416, "Content-Range: bytes */500", does: .triesAgainFromZero),
    ])
    func noRest(_ answer: Answer) { #expect(Doing(answer.plan) == answer.doing) }

    @Test("that is a failure has the status in its message")
    func failureNamesTheStatus() {
        guard case .fail(let failure) = ResponsePlan.decide(head(404), offset: 0, known: nil) else {
            Issue.record("a 404 is not a failure")
            return
        }
        #expect(failure.domain == .http)
        #expect(failure.detail == 404)
        #expect(failure.message.contains("404"))
    }

    private func decide(
        _ head: ResponseHead, _ kept: Kept = .nothing, isConditional: Bool = false,
        _ change: (inout DownloadTerms) -> Void = { _ in }
    ) -> Doing {
        var terms = DownloadTerms()
        change(&terms)
        return Doing(
            ResponsePlan.decide(
                head, offset: kept.offset, known: kept.checkpoint, terms: terms, isConditional: isConditional))
    }

    @Test("depends on the accepted and the retried statuses of the request")
    func accepted() throws {
        let list = try #require(StatusList("200,404"))
        let found = head(404, "Content-Length: 10")
        #expect(decide(found) { $0.acceptedStatuses = list } == .startsOver(size: 10))
        #expect(decide(found, .tagged) { $0.acceptedStatuses = list } == .startsOver(size: 10))
        #expect(decide(head(201)) { $0.acceptedStatuses = list } == .fails(.httpStatus))
        #expect(decide(head(503)) { $0.acceptedStatuses = list } == .triesAgain)
        let retried = try #require(StatusList("404"))
        #expect(decide(head(404)) { $0.retriedStatuses = retried } == .triesAgain)
        #expect(decide(head(503)) { $0.retriedStatuses = retried } == .fails(.httpStatus))
        let redirect = head(302, "Content-Length: 3")
        #expect(decide(redirect) { $0.acceptedStatuses = StatusList("302")! } == .startsOver(size: 3))
    }

    @Test("accepts the rest of a file whose status is accepted")
    func acceptedRest() throws {
        let rest = head(206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"")
        let only200 = try #require(StatusList("200"))
        let only404 = try #require(StatusList("404"))
        #expect(decide(rest, .tagged) { $0.acceptedStatuses = only200 } == .appends(of: 1000, through: 1000))
        #expect(decide(rest, .tagged) { $0.acceptedStatuses = only404 } == .fails(.httpStatus))
    }

    @Test("without a body is to make an empty file, even with a Content-Length")
    func bodiless() {
        #expect(decide(head(200, "Content-Length: 1000")) { $0.method = "HEAD" } == .startsOver(size: 0))
        let same = head(304, "Content-Length: 9")
        #expect(decide(same) { $0.acceptedStatuses = StatusList("304")! } == .startsOver(size: 0))
    }

    @Test("has no validators for other methods than GET, or for error statuses")
    func validators() {
        for (status, method) in [(Int32(200), "POST"), (404, "GET")] {
            var terms = DownloadTerms()
            terms.method = method
            terms.acceptedStatuses = StatusList("200-499")!
            let plan = ResponsePlan.decide(head(status, "ETag: \"a\""), offset: 0, known: nil, terms: terms)
            #expect(plan == .startOver(size: nil, Validator()))
        }
    }

    @Test("accepts a 304 only for a conditional request")
    func notModified() {
        #expect(decide(head(304), isConditional: true) == .isUnchanged)
        #expect(decide(head(304)) == .fails(.httpStatus))
    }
}
