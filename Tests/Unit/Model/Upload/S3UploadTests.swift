@testable import BackhaulModel
import Testing

@Suite("The multipart upload of S3")
struct S3UploadTests {
    static let mebibyte: UInt64 = 1 << 20
    static let known = UploadResource(
        .s3, url: "s3://bucket/key?uploadId=1", offset: 8 * mebibyte, longestAppend: 8 * mebibyte)

    private func word(_ status: Int32, _ body: String, after step: UploadStep) -> String {
        let verdict = UploadProtocol.s3.verdict(
            UploadProtocolTests.head(status), Array(body.utf8), location: nil, after: step, wasBodySent: true,
            resource: step.resource, url: "s3://bucket/key", size: 20 * Self.mebibyte)
        return UploadProtocolTests.word(verdict)
    }

    @Test("an upload with crashes and faults succeeds, and then the server has the whole object")
    func walk() {
        for seed in 1...500 {
            var walk = S3UploadWalk(seed: UInt64(seed))
            guard let problem = walk.run() else { continue }
            Issue.record("seed \(seed): \(problem)")
            return
        }
    }

    @Test("only parts whose requests were broken are sent again, except if the last answer was lost")
    func again() {
        for seed in 1...300 {
            var walk = S3UploadWalk(seed: UInt64(seed), forgets: false)
            _ = walk.run()
            guard walk.isInParts, !walk.wasMadeTwice else { continue }
            // An end of the engine may cost one part each time.
            let limit = (walk.brokenParts + UInt64(walk.attempts)) * 8 * Self.mebibyte
            #expect(walk.sentAgain <= limit, "seed \(seed)")
        }
    }

    @Test(
        "the size of a part grows so that 10,000 parts are enough",
        arguments: [
            (17 * mebibyte, 8 * mebibyte), (80_000 * mebibyte, 8 * mebibyte), (80_000 * mebibyte + 1, 9 * mebibyte),
            (5 << 40, 525 * mebibyte), (UInt64.max, 1_759_218_605 * mebibyte),
        ])
    func partSize(_ size: UInt64, _ expected: UInt64) {
        #expect(UploadProtocol.s3PartSize(of: size) == expected)
        #expect((size - 1) / expected < 10_000)
    }

    @Test("the first step is a single request for a small body, and asks for the parts of a known upload")
    func firstStep() {
        let s3 = UploadProtocol(.never, url: "S3://bucket/key", size: 1)
        #expect(s3 == .s3)
        #expect(s3.firstStep(nil, size: 16 * Self.mebibyte) == .whole)
        #expect(s3.firstStep(nil, size: 16 * Self.mebibyte + 1) == .create)
        #expect(s3.firstStep(Self.known, size: 1) == .list(Self.known, PartListing()))
    }

    @Test("the URLs of the steps")
    func urls() {
        let url = { UploadProtocol.s3.url(of: $0, "s3://bucket/key") }
        #expect(url(.whole) == "s3://bucket/key")
        #expect(url(.create) == "s3://bucket/key?uploads=")
        #expect(url(.append(Self.known, count: 5)) == "s3://bucket/key?uploadId=1&partNumber=2")
        #expect(url(.list(Self.known, PartListing())) == "s3://bucket/key?uploadId=1")
        #expect(url(.complete(Self.known, [])) == "s3://bucket/key?uploadId=1")
    }

    @Test(
        "the response to the request that makes an upload",
        arguments: [
            (
                200, "<InitiateMultipartUploadResult><UploadId>a b</UploadId></InitiateMultipartUploadResult>",
                "append 8388608 at 0"
            ),
            (200, "<InitiateMultipartUploadResult/>", "later"), (200, "<html></html>", "later"), (200, "", "later"),
            (503, "<Error><Code>SlowDown</Code></Error>", "answer"), (403, "", "answer"),
        ])
    func created(_ status: Int32, _ body: String, _ expected: String) {
        #expect(word(status, body, after: .create) == expected)
    }

    @Test(
        "the response to the request that makes the object",
        arguments: [
            (200, "<CompleteMultipartUploadResult/>", "complete"),
            (200, "<Error><Code>InternalError</Code></Error>", "later"),
            (200, "<Error><Code>NoSuchUpload</Code></Error>", "start over"), (200, "", "later"),
            (404, "<Error><Code>NoSuchUpload</Code></Error>", "start over"),
            (404, "<Error><Code>NoSuchBucket</Code></Error>", "answer"),
            (400, "<Error><Code>InvalidPart</Code></Error>", "later"),
            (409, "<Error><Code>ConditionalRequestConflict</Code></Error>", "later"),
            (412, "<Error><Code>PreconditionFailed</Code></Error>", "answer"), (500, "", "later"),
        ])
    func completed(_ status: Int32, _ body: String, _ expected: String) {
        #expect(word(status, body, after: .complete(Self.known, [])) == expected)
    }

    private func part(_ number: UInt64, _ size: UInt64) -> String {
        "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(number)&quot;</ETag><Size>\(size)</Size></Part>"
    }

    @Test("parts after a gap, and parts of another size, are sent again")
    func usable() {
        let full = 8 * Self.mebibyte
        let cases: [([(UInt64, UInt64)], String)] = [
            ([], "append 8388608 at 0"), ([(1, full)], "append 8388608 at 8388608"),
            ([(1, full), (3, 4 * Self.mebibyte)], "append 8388608 at 8388608"),
            ([(1, full), (2, full - 1)], "append 8388608 at 8388608"),
            ([(1, full), (2, full)], "append 4194304 at 16777216"),
            ([(1, full), (2, full), (3, 4 * Self.mebibyte)], "?"), ([(2, full), (1, full)], "later"),
            ([(1, full), (1, full)], "later"),
        ]
        for (parts, expected) in cases {
            let body = "<ListPartsResult>\(parts.map { part($0, $1) }.joined())</ListPartsResult>"
            #expect(word(200, body, after: .list(Self.known, PartListing())) == expected)
        }
    }

    @Test("a list that does not come to its end is refused")
    func endless() {
        let body = "<ListPartsResult><IsTruncated>true</IsTruncated></ListPartsResult>"
        #expect(word(200, body, after: .list(Self.known, PartListing())) == "later")
    }

    @Test("fields that describe the object belong to the request that makes the upload, conditions to the last request")
    func fields() {
        let fields = [
            HeaderField("Content-Type", "image/png"), HeaderField("If-None-Match", "*"),
            HeaderField("X-Amz-Server-Side-Encryption-Customer-Key", "k"), HeaderField("x-amz-meta-a", "b"),
        ]
        let names = { UploadProtocol.s3Fields(of: $0, fields).map(\.name) }
        #expect(names(.whole).count == 4)
        #expect(names(.create) == ["Content-Type", "X-Amz-Server-Side-Encryption-Customer-Key", "x-amz-meta-a"])
        #expect(names(.append(Self.known, count: 1)) == ["X-Amz-Server-Side-Encryption-Customer-Key"])
        #expect(names(.complete(Self.known, [])) == ["If-None-Match", "X-Amz-Server-Side-Encryption-Customer-Key"])
    }
}
