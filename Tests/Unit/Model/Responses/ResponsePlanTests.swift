import BackhaulModel
import Testing

@Suite("The plan for a response")
struct ResponsePlanTests {
    private static let largest = String(UInt64.max)
    private static let longest = String(Int64.max)

    @Test(
        "the plan is right for each response to a request for the whole file",
        arguments: [
            ResponseCase(.nothing, 200, "Content-Length: 1000", expect: .startsOver(size: 1000)),
            ResponseCase(.nothing, 200, "Content-Length: 0", expect: .startsOver(size: 0)),
            ResponseCase(.nothing, 200, expect: .startsOver(size: nil)),
            ResponseCase(.nothing, 203, "Content-Length: 1000", expect: .startsOver(size: 1000)),
            ResponseCase(.nothing, 204, expect: .startsOver(size: 0)),
            ResponseCase(.nothing, 205, "Content-Length: 10", expect: .startsOver(size: 0)),
            ResponseCase(.nothing, 299, expect: .startsOver(size: nil)),
            ResponseCase(.nothing, 200, "Content-Length: 10", "Content-Length: 10", expect: .startsOver(size: 10)),
            ResponseCase(.nothing, 200, "Content-Length: 10, 10", expect: .startsOver(size: 10)),
            ResponseCase(
                .nothing, 200, "Content-Length: 10", "Transfer-Encoding: chunked", expect: .startsOver(size: nil)),
            ResponseCase(
                .nothing, 200, "Content-Length: \(Self.longest)", expect: .startsOver(size: UInt64(Int64.max))),
            ResponseCase(.nothing, 200, "Content-Length: 9223372036854775808", expect: .fails(.tooLarge)),
            ResponseCase(.nothing, 200, "Content-Length: \(Self.largest)", expect: .fails(.tooLarge)),
            ResponseCase(.nothing, 200, "Content-Length: 99999999999999999999999", expect: .fails(.tooLarge)),
            ResponseCase(.nothing, 200, "Content-Length: 10, 11", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: 10", "Content-Length: 11", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: -1", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: +1", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: 1.0", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: ", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 200, "Content-Length: 10,", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 206, "Content-Range: bytes 0-999/1000", expect: .fails(.badResponse)),
            ResponseCase(.nothing, 416, "Content-Range: bytes */0", expect: .fails(.httpStatus)),
        ])
    func wholeFile(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "the plan is right for each response whose status means that the body is not the file",
        arguments: [
            ResponseCase(.nothing, 300, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 302, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 304, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 400, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 401, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 403, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 404, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 407, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 408, expect: .triesAgain), ResponseCase(.nothing, 410, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 412, expect: .fails(.httpStatus)), ResponseCase(.nothing, 429, expect: .triesAgain),
            ResponseCase(.nothing, 500, expect: .triesAgain), ResponseCase(.nothing, 501, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 502, expect: .triesAgain), ResponseCase(.nothing, 503, expect: .triesAgain),
            ResponseCase(.nothing, 504, expect: .triesAgain),
            ResponseCase(.nothing, 505, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 599, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, 0, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, -1, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, .max, expect: .fails(.httpStatus)),
            ResponseCase(.nothing, .min, expect: .fails(.httpStatus)),
            // The task keeps its bytes, and the next attempt resumes after these bytes.
            ResponseCase(.tagged, 503, expect: .triesAgain), ResponseCase(.tagged, 429, expect: .triesAgain),
        ])
    func notAFile(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "if a response contradicts an earlier response, the task starts again one time",
        arguments: [
            // The same strong entity tag promises the same bytes, so the size must be the same.
            ResponseCase(.tagged, 200, "Content-Length: 0", "ETag: \"a\"", expect: .startsOverOnce),
            ResponseCase(.tagged, 200, "Content-Length: 500", "ETag: \"a\"", expect: .startsOverOnce),
            ResponseCase(.taggedOfUnknownSize, 200, "Content-Length: 499", "ETag: \"a\"", expect: .startsOverOnce),
            ResponseCase(
                .taggedOfUnknownSize, 200, "Content-Length: 900", "ETag: \"a\"", expect: .startsOver(size: 900)),
            // If the response states no length, the complete file must have the length from the checkpoint.
            ResponseCase(.tagged, 200, "ETag: \"a\"", expect: .startsOver(size: 1000)),
            ResponseCase(.tagged, 202, "Content-Length: 10", expect: .startsOverOnce),
            ResponseCase(.tagged, 204, expect: .startsOverOnce), ResponseCase(.dated, 204, expect: .startsOverOnce),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "Content-Range: bytes 0-499/1000", "ETag: \"a\"",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "ETag: \"b\"",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 416, "Content-Range: bytes */500", "Content-Range: bytes */1000", expect: .triesAgainFromZero),
            // In the cases below, an earlier response has already contradicted the checkpoint. After a second
            // contradiction, the task fails. Without a second contradiction, the download starts again from byte 0.
            ResponseCase(.promised, 200, "Content-Length: 0", "ETag: \"a\"", expect: .fails(.badResponse)),
            ResponseCase(.promised, 204, expect: .fails(.badResponse)),
            ResponseCase(.promised, 200, "Content-Length: 1000", "ETag: \"a\"", expect: .startsOver(size: 1000)),
            ResponseCase(.promised, 200, "ETag: \"a\"", expect: .startsOver(size: 1000)),
            ResponseCase(.promised, 200, "Content-Length: 3", "ETag: \"b\"", expect: .startsOver(size: 3)),
        ])
    func contradictions(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "the plan is right for each response to a range request with a strong entity tag",
        arguments: [
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: 500",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/*", "ETag: \"a\"", expect: .appends(of: 1000, through: 1000)
            ),
            ResponseCase(
                .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                expect: .appends(of: 1000, through: 1000)),
            // A server may send a shorter range than requested.
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-599/1000", "ETag: \"a\"",
                expect: .appends(of: 1000, through: 600)),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-500/*", "ETag: \"a\"",
                expect: .appends(of: 1000, through: 501)),
            // The entity tag decides, not the date, because servers of a cluster may have different dates.
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Last-Modified: \(tuesday)",
                expect: .appends(of: 1000, through: 1000)),
            // The server ignores ranges, or the file has changed (If-Range).
            ResponseCase(.tagged, 200, "Content-Length: 1000", "ETag: \"a\"", expect: .startsOver(size: 1000)),
            ResponseCase(.tagged, 200, "Content-Length: 800", "ETag: \"b\"", expect: .startsOver(size: 800)),
            ResponseCase(.tagged, 200, expect: .startsOver(size: nil)),
            // The response does not prove that the file is the same.
            ResponseCase(.tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"b\"", expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: W/\"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"A\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 500-999/1000", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 500-998/999", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-1000/1001", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 500-1000/*", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 499-999/1000", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 501-999/1000", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes 0-999/1000", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: bytes */1000", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "Content-Range: nonsense", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 206, "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: 1000",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Length: junk",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                "Content-Type: multipart/byteranges; boundary=x", expect: .triesAgainFromZero),
            ResponseCase(
                .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/*", "ETag: \"a\"",
                expect: .triesAgainFromZero),
            ResponseCase(
                .taggedOfUnknownSize, 206, "Content-Range: bytes 500-\(Self.largest)/*", "ETag: \"a\"",
                expect: .triesAgainFromZero),
            ResponseCase(
                .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/\(Self.largest)", "ETag: \"a\"",
                expect: .fails(.tooLarge)),
            ResponseCase(.unvalidated, 206, "Content-Range: bytes 500-999/1000", expect: .triesAgainFromZero),
            ResponseCase(
                .unknown, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", expect: .triesAgainFromZero),
        ])
    func rest(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "the plan is right for each response to a range request with Last-Modified",
        arguments: [
            ResponseCase(
                .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(monday)",
                expect: .appends(of: 1000, through: 1000)),
            // A 206 for an If-Range may omit Last-Modified (RFC 9110, section 15.3.7).
            ResponseCase(.dated, 206, "Content-Range: bytes 500-999/1000", expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(tuesday)",
                expect: .triesAgainFromZero),
            // Last-Modified equals Date, so it is not a strong validator. But it differs from the Last-Modified in the
            // checkpoint, so the file has changed.
            ResponseCase(
                .dated, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(tuesday)", "Date: \(tuesday)",
                expect: .triesAgainFromZero),
            ResponseCase(
                .datedOfUnknownSize, 206, "Content-Range: bytes 500-999/1000", "Last-Modified: \(monday)",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .dated, 200, "Content-Length: 1000", "Last-Modified: \(tuesday)", expect: .startsOver(size: 1000)),
        ])
    func restByDate(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "a range from another URL is appended only if its ETag, size and origin are the same",
        arguments: [
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                url: "https://example.org/file?signed=2",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .dated, 206, "Content-Range: bytes 500-999/1000", url: "https://example.org/file?signed=2",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", url: "https://example.org/file2",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .taggedOfUnknownSize, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                url: "https://example.org/file2", expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1001", "ETag: \"a\"", url: "https://example.org/file2",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", url: "http://example.org/file",
                expect: .triesAgainFromZero),
            ResponseCase(
                .tagged, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                url: "https://mirror.example.org/file",
                expect: .triesAgainFromZero),
        ])
    func otherAddress(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "a Last-Modified that contradicts an equal ETag shows another representation",
        arguments: [
            ResponseCase(
                .taggedAndDated, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Last-Modified: \(tuesday)",
                expect: .triesAgainFromZero),
            ResponseCase(
                .taggedAndDated, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Last-Modified: \(monday)",
                expect: .appends(of: 1000, through: 1000)),
            ResponseCase(
                .taggedAndDated, 206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"",
                expect: .appends(of: 1000, through: 1000)),
            // A file of another size, which has the tag and another date, is a new file and no contradiction.
            ResponseCase(
                .taggedAndDated, 200, "Content-Length: 7", "ETag: \"a\"", "Last-Modified: \(monday)",
                "Date: \(tuesday)",
                expect: .startsOverOnce),
            ResponseCase(
                .taggedAndDated, 200, "Content-Length: 7", "ETag: \"a\"", "Last-Modified: \(tuesday)",
                "Date: Wed, 07 Oct 2026 08:00:00 GMT", expect: .startsOver(size: 7)),
        ])
    func contradictedTag(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "the plan is right for each 416 response to a range request",
        arguments: [
            ResponseCase(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: \"a\"", expect: .isWhole),
            ResponseCase(.taggedOfUnknownSize, 416, "Content-Range: bytes */500", expect: .isWhole),
            ResponseCase(.datedOfUnknownSize, 416, "Content-Range: bytes */500", expect: .isWhole),
            ResponseCase(
                .datedOfUnknownSize, 416, "Content-Range: bytes */500", "Last-Modified: \(monday)", expect: .isWhole),
            ResponseCase(
                .bytes(of: 500, Validator(entityTag: "\"a\"")), 416, "Content-Range: bytes */500", expect: .isWhole),
            ResponseCase(
                .taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: \"b\"", expect: .triesAgainFromZero),
            ResponseCase(
                .taggedOfUnknownSize, 416, "Content-Range: bytes */500", "ETag: W/\"a\"", expect: .triesAgainFromZero),
            ResponseCase(
                .datedOfUnknownSize, 416, "Content-Range: bytes */500", "Last-Modified: \(tuesday)",
                expect: .triesAgainFromZero),
            ResponseCase(.taggedOfUnknownSize, 416, "Content-Range: bytes */499", expect: .triesAgainFromZero),
            ResponseCase(
                .taggedOfUnknownSize, 416, "Content-Range: bytes */\(Self.largest)", expect: .triesAgainFromZero),
            ResponseCase(.taggedOfUnknownSize, 416, "Content-Range: bytes 0-499/500", expect: .triesAgainFromZero),
            ResponseCase(.taggedOfUnknownSize, 416, expect: .triesAgainFromZero),
            ResponseCase(.tagged, 416, "Content-Range: bytes */500", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.tagged, 416, "Content-Range: bytes */1000", "ETag: \"a\"", expect: .triesAgainFromZero),
            ResponseCase(.unvalidated, 416, "Content-Range: bytes */500", expect: .triesAgainFromZero),
            ResponseCase(.unknown, 416, "Content-Range: bytes */500", expect: .triesAgainFromZero),
        ])
    func noRest(_ response: ResponseCase) { #expect(ExpectedPlan(response.plan) == response.expected) }

    @Test(
        "if the status may refuse only the range, the whole file is requested",
        arguments: [400, 403, 404, 405, 412, 500, 501] as [Int32])
    func refusedRange(_ status: Int32) {
        #expect(decide(head(status), .tagged) == .withoutRange)
        #expect(decide(head(status)) != .withoutRange)
        #expect(decide(head(status), .tagged) { $0.retriedStatuses = StatusList("400-599")! } == .withoutRange)
    }

    @Test("a status that refuses the request for now, or demands a login, does not refuse the range")
    func refusedForNow() {
        for status: Int32 in [304, 401, 407, 408, 429, 502, 503, 511, 520] {
            #expect(decide(head(status), .tagged) != .withoutRange, "\(status)")
        }
        for status: Int32 in [403, 500] {
            #expect(decide(head(status, retryAfter: 5), .tagged) == .triesAgain, "\(status)")
        }
    }

    @Test("a download with status 202 and Retry-After is not ready, except if the request accepts 202")
    func unready() {
        let unready = head(202, "Content-Length: 9", retryAfter: 2)
        #expect(decide(unready) == .triesAgain)
        #expect(decide(unready, .tagged) == .triesAgain)
        #expect(decide(unready) { $0.acceptedStatuses = StatusList("200")! } == .triesAgain)
        #expect(decide(unready) { $0.acceptedStatuses = StatusList("200,202")! } == .startsOver(size: 9))
        #expect(decide(unready) { $0.method = "POST" } == .startsOver(size: 9))
        #expect(decide(head(202, "Content-Length: 9")) == .startsOver(size: 9))
    }

    @Test(
        "a Retry-After without a delay still shows that the server expects another request",
        arguments: [202, 403] as [Int32])
    func retryAfterWithoutDelay(_ status: Int32) {
        #expect(decide(head(status, "Content-Length: 9", retryAfter: 0)) == .triesAgain)
        #expect(decide(head(status, "Content-Length: 9", retryAfter: 0), .tagged) == .triesAgain)
    }

    @Test("if the status is an error, the message of the failure contains the status")
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
        _ head: ResponseHead, _ kept: ExistingPart = .nothing, isConditional: Bool = false,
        _ change: (inout DownloadTerms) -> Void = { _ in }
    ) -> ExpectedPlan {
        var terms = DownloadTerms()
        change(&terms)
        return ExpectedPlan(
            ResponsePlan.decide(
                head, offset: kept.offset, known: kept.checkpoint, terms: terms, isConditional: isConditional))
    }

    @Test("the plan for a response depends on the statuses that the request accepts or retries")
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

    @Test("a 206 response is accepted if the request accepts the status 200")
    func acceptedRest() throws {
        let rest = head(206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"")
        let only200 = try #require(StatusList("200"))
        let only404 = try #require(StatusList("404"))
        #expect(decide(rest, .tagged) { $0.acceptedStatuses = only200 } == .appends(of: 1000, through: 1000))
        #expect(decide(rest, .tagged) { $0.acceptedStatuses = only404 } == .fails(.httpStatus))
    }

    @Test("with a digest in the request, a part is continued whatever the validators are, but not with another size")
    func digest() throws {
        let checksum = try #require(Checksum("sha-256:" + String(repeating: "0", count: 64)))
        func plan(_ head: ResponseHead, _ kept: ExistingPart, method: String = "GET") -> ExpectedPlan {
            decide(head, kept) { ($0.checksum, $0.method) = (checksum, method) }
        }
        let range = "Content-Range: bytes 500-999/1000"
        for part in [ExistingPart.unvalidated, .tagged, .dated] {
            #expect(plan(head(206, range), part) == .appends(of: 1000, through: 1000))
            #expect(plan(head(206, range, "ETag: W/\"a\""), part) == .appends(of: 1000, through: 1000))
            #expect(plan(head(206, range, "ETag: \"b\""), part) == .appends(of: 1000, through: 1000))
            #expect(plan(head(206, range, url: "https://mirror.org/f"), part) == .appends(of: 1000, through: 1000))
            #expect(plan(head(206, "Content-Range: bytes 500-999/1001"), part) == .triesAgainFromZero)
            #expect(plan(head(200, "Content-Length: 1000"), part) == .startsOver(size: 1000))
        }
        #expect(plan(head(206, range), .unvalidated, method: "POST") == .triesAgainFromZero)
        #expect(decide(head(206, range), .unvalidated) == .triesAgainFromZero)
    }

    @Test("a part file that a 416 response shows to be complete must have the size that the request expects")
    func completeOfWrongSize() {
        let end = head(416, "Content-Range: bytes */500")
        #expect(decide(end, .taggedOfUnknownSize) { $0.expectedSize = 500 } == .isWhole)
        #expect(decide(end, .taggedOfUnknownSize) { $0.expectedSize = 900 } == .triesAgainFromZero)
        #expect(
            decide(end, .taggedOfUnknownSize) { ($0.expectedSize, $0.hadMismatch) = (900, true) }
                == .fails(.sizeMismatch))
        #expect(decide(end, .taggedOfUnknownSize) { $0.maximumSize = 499 } == .fails(.tooLarge))
    }

    @Test("a response without a body makes an empty file, even if the response has a Content-Length")
    func bodiless() {
        #expect(decide(head(200, "Content-Length: 1000")) { $0.method = "HEAD" } == .startsOver(size: 0))
        let same = head(304, "Content-Length: 9")
        #expect(decide(same) { $0.acceptedStatuses = StatusList("304")! } == .startsOver(size: 0))
    }

    @Test("if the method is not GET, or the status is an error, the plan for the response has no validators")
    func validators() {
        for (status, method) in [(Int32(200), "POST"), (404, "GET")] {
            var terms = DownloadTerms()
            terms.method = method
            terms.acceptedStatuses = StatusList("200-499")!
            let plan = ResponsePlan.decide(head(status, "ETag: \"a\""), offset: 0, known: nil, terms: terms)
            #expect(plan == .startOver(size: nil, Validator()))
        }
    }

    @Test("a 304 response is accepted only for a conditional request")
    func notModified() {
        #expect(decide(head(304), isConditional: true) == .isUnchanged)
        #expect(decide(head(304)) == .fails(.httpStatus))
    }
}
