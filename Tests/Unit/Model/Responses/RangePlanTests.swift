import BackhaulModel
import Testing

/// A response to a request for a range of a resource, and what the download does with this response.
struct RangeCase: CustomTestStringConvertible {
    var range: ByteRange
    var kept: UInt64
    var status: Int32
    var lines: [String]
    var expected: ResponsePlan

    /// `kept`: the number of bytes of the range that an earlier attempt has stored.
    init(
        _ start: UInt64, _ size: UInt64?, kept: UInt64 = 0, _ status: Int32, _ lines: String..., plan: ResponsePlan
    ) {
        range = ByteRange(start: start, size: size)
        (self.kept, self.status, self.lines, expected) = (kept, status, lines, plan)
    }

    var plan: ResponsePlan {
        var terms = DownloadTerms()
        terms.range = range
        let known = Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: "https://example.org/file", size: range.size,
            syncedOffset: kept, bootID: "boot")
        return ResponsePlan.decide(
            head(status, lines: lines), offset: kept, known: kept > 0 ? known : nil, terms: terms)
    }

    var testDescription: String { "\(range.text), \(kept) kept; \(status) \(lines.joined(separator: " | "))" }
}

@Suite("The plan for a response to a request for a range")
struct RangePlanTests {
    private static let tagged = Validator(entityTag: "\"a\"")

    @Test(
        "a 206 response is accepted if it begins with the first missing byte, and ends inside the range",
        arguments: [
            RangeCase(
                100, 50, 206, "Content-Range: bytes 100-149/1000", "ETag: \"a\"", plan: .startOver(size: 50, tagged)),
            RangeCase(
                100, nil, 206, "Content-Range: bytes 100-999/1000", "ETag: \"a\"", plan: .startOver(size: 900, tagged)),
            RangeCase(
                0, 50, 206, "Content-Range: bytes 0-49/1000", "ETag: \"a\"", plan: .startOver(size: 50, tagged)),
            RangeCase(
                100, 50, 206, "Content-Range: bytes 100-149/*", "ETag: \"a\"", plan: .startOver(size: 50, tagged)),
            RangeCase(
                100, 50, 206, "Content-Range: bytes 100-119/1000", "ETag: \"a\"",
                plan: .startOver(size: 50, tagged, body: .part(through: 20))),
            RangeCase(
                100, 50, kept: 20, 206, "Content-Range: bytes 120-149/1000", "ETag: \"a\"",
                plan: .append(size: 50, through: 50)),
            RangeCase(
                100, nil, kept: 20, 206, "Content-Range: bytes 120-299/300", "ETag: \"a\"",
                plan: .append(size: 200, through: 200)),
        ])
    func accepted(_ response: RangeCase) { #expect(response.plan == response.expected) }

    @Test(
        "a 206 response with other bytes than the requested ones is not accepted",
        arguments: [
            RangeCase(100, 50, 206, "Content-Range: bytes 0-49/1000", plan: .whole),
            RangeCase(100, 50, 206, "Content-Range: bytes 101-149/1000", plan: .whole),
            RangeCase(100, 50, 206, "Content-Range: bytes 100-150/1000", plan: .whole),
            RangeCase(100, 50, 206, "Content-Range: bytes 100-149/1000", "Content-Length: 51", plan: .whole),
            RangeCase(100, 50, 206, plan: .whole),
            RangeCase(100, nil, 206, "Content-Range: bytes 100-149/*", plan: .whole),
            RangeCase(100, 50, kept: 20, 206, "Content-Range: bytes 20-49/1000", "ETag: \"a\"", plan: .whole),
            RangeCase(100, 50, kept: 20, 206, "Content-Range: bytes 120-149/1000", "ETag: \"b\"", plan: .whole),
        ])
    func refused(_ response: RangeCase) {
        guard case .retry(let failure, fromZero: true) = response.plan else {
            Issue.record("the plan is \(response.plan)")
            return
        }
        #expect(failure.status == .badResponse)
    }

    @Test(
        "a server that ignores the range sends the whole resource, of which only the range becomes the file",
        arguments: [
            RangeCase(
                100, 50, 200, "Content-Length: 1000", "ETag: \"a\"",
                plan: .startOver(size: 50, tagged, body: .around(skipped: 100))),
            RangeCase(
                100, nil, 200, "Content-Length: 1000", "ETag: \"a\"",
                plan: .startOver(size: 900, tagged, body: .around(skipped: 100))),
            RangeCase(
                100, 50, 200, "ETag: \"a\"", plan: .startOver(size: 50, tagged, body: .around(skipped: 100))),
            RangeCase(
                100, nil, 200, "ETag: \"a\"", plan: .startOver(size: nil, tagged, body: .around(skipped: 100))),
            RangeCase(
                100, 50, kept: 20, 200, "Content-Length: 1000", "ETag: \"b\"",
                plan: .startOver(size: 50, Validator(entityTag: "\"b\""), body: .around(skipped: 100))),
        ])
    func ignored(_ response: RangeCase) { #expect(response.plan == response.expected) }

    @Test(
        "a resource that is shorter than the range has the wrong size",
        arguments: [
            RangeCase(100, 50, 206, "Content-Range: bytes 100-119/120", plan: .whole),
            RangeCase(100, 50, 416, "Content-Range: bytes */100", plan: .whole),
            RangeCase(100, 50, 416, plan: .whole),
            RangeCase(100, nil, 416, "Content-Range: bytes */100", plan: .whole),
            RangeCase(100, 50, 200, "Content-Length: 149", plan: .whole),
            RangeCase(100, nil, 200, "Content-Length: 100", plan: .whole),
            RangeCase(100, 50, 204, plan: .whole),
            RangeCase(100, 50, kept: 20, 416, "Content-Range: bytes */120", "ETag: \"a\"", plan: .whole),
        ])
    func short(_ response: RangeCase) {
        guard case .retry(let failure, fromZero: true) = response.plan else {
            Issue.record("the plan is \(response.plan)")
            return
        }
        #expect(failure.status == .sizeMismatch)
        #expect(failure.message.contains("100"))
    }

    @Test("if all bytes up to the end of the resource are stored, a 416 response confirms this")
    func complete() {
        let response = RangeCase(100, nil, kept: 20, 416, "Content-Range: bytes */120", "ETag: \"a\"", plan: .whole)
        #expect(response.plan == .whole)
    }

    @Test("the digest of the whole resource is not compared with the bytes of a range")
    func digests() {
        var request = Request(url: "https://example.org/file")
        request.options.rangeStart = 100
        #expect(DownloadTerms(request, SessionConfiguration(identifier: "a")).ignoresDigests)
    }
}
