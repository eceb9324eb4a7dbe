@testable import BackhaulModel
import Testing

@Suite("The multipart upload of S3")
struct S3UploadTests {
    static let mebibyte: UInt64 = 1 << 20
    static let known = UploadResource(
        .s3, url: "s3://bucket/key?uploadId=1", offset: 8 * mebibyte, longestAppend: 8 * mebibyte)

    static let second = UploadPart(number: 2, range: 8 * mebibyte..<16 * mebibyte)

    private func word(_ status: Int32, _ body: String, after step: UploadStep) -> String {
        let verdict = UploadProtocol.s3.verdict(
            UploadProtocolTests.head(status), Array(body.utf8), location: nil, after: step, wasBodySent: true,
            resource: step.resource, url: "s3://bucket/key", size: 20 * Self.mebibyte)
        switch verdict {
        case .next(.complete, _): return "make the object"
        case .parts(let resource, var plan, _):
            var texts: [String] = []
            while let part = plan.take() {
                texts.append("\(part.range.lowerBound)..<\(part.range.upperBound)")
                plan.finish(part)
            }
            return "\(resource.offset) sent, then \(texts.joined(separator: ", "))"
        default: return UploadProtocolTests.word(verdict)
        }
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
            #expect(walk.sentAgain <= walk.brokenParts * 8 * Self.mebibyte, "seed \(seed)")
        }
    }

    @Test("up to four parts are in flight together")
    func together() {
        let most = (1...100).map { seed in
            var walk = S3UploadWalk(seed: UInt64(seed))
            _ = walk.run()
            return walk.mostInFlight
        }
        #expect(most.max() == 4)
    }

    @Test("a pause that the server asks for in the response to one part holds if another part ends the attempt")
    func pauseOfPart() throws {
        var server = SimulatedS3Server(size: 20 * Self.mebibyte)
        var machine = UploadMachine(
            url: "s3://bucket/key", policy: TransferPolicy(SessionConfiguration(identifier: "s")),
            size: 20 * Self.mebibyte)
        var events: [UploadMachine.Event] = [.start]
        while let event = events.popLast() {
            if case .transferComplete = event { machine.read(server.body.span.bytes) }
            for action in machine.handle(event) {
                switch action {
                case .openBody: events.append(.opened)
                case .record: events.append(.recorded)
                case .startTransfer(.create):
                    let url = "s3://bucket/key?uploads="
                    events += server.respond(to: .create, url, cut: nil, losesResponse: false).reversed()
                default: break
                }
            }
        }
        #expect(machine.phase == .sending)
        let taken = machine.takeExtraPart()
        var extra = try #require(taken)
        for event in [.start, .opened] as [UploadMachine.Event] { _ = extra.handle(event) }
        let busy = ResponseHead(
            status: 503, finalURL: "", isMultiplexed: false, fields: [], retryAfterSeconds: 60, origin: "http://a:80")
        _ = extra.handle(.head(busy, nil))
        machine.responded(extra)
        let lost = Failure(.connectionLost, "lost")
        let actions = machine.handle(.transferFailed(lost, isTransient: true))
        #expect(actions.contains(.conclude(.retry(lost))) && machine.demandedDelay?.seconds == 60)
        #expect(machine.demandedDelay?.pausesOrigin == true)
    }

    /// The failure with which an upload in one request is tried again, after these events.
    private func failure(after events: [UploadMachine.Event]) -> Failure? {
        var machine = UploadMachine(
            url: "s3://bucket/key", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 5)
        let actions = ([.start, .opened] + events).flatMap { machine.handle($0) }
        return actions.lazy.compactMap { if case .conclude(.retry(let failure)) = $0 { failure } else { nil } }.first
    }

    @Test("an error is judged by its status if its body is cut off, does not end, or is too long")
    func endlessError() {
        let head = UploadMachine.Event.head(UploadProtocolTests.head(403), nil)
        let lost = Failure(.connectionLost, "lost")
        let endings: [[UploadMachine.Event]] = [
            [.transferFailed(lost, isTransient: true)], Array(repeating: .tick(), count: 10),
            Array(repeating: .received(count: S3Document.sizeLimit), count: 3),
        ]
        for ending in endings {
            let found = failure(after: [head] + ending)
            #expect(found?.status == .httpStatus && found?.detail == 403)
        }
    }

    @Test("a response with status 200 may take any time, but its body has a size limit")
    func endlessResult() {
        var machine = UploadMachine(
            url: "s3://bucket/key", policy: TransferPolicy(SessionConfiguration(identifier: "s")),
            size: 20 * Self.mebibyte)
        for event in [.start, .head(UploadProtocolTests.head(200), nil)] as [UploadMachine.Event] {
            _ = machine.handle(event)
        }
        let silent = (0..<1_000).flatMap { _ in machine.handle(.tick()) }
        #expect(silent.isEmpty && machine.phase == .reading)
        _ = machine.handle(.received(count: S3Document.sizeLimit + 1))
        #expect(machine.phase == .receivingErrorBody)
    }

    @Test("a list of parts with too long an entity tag is refused")
    func longEntityTag() {
        let tag = String(repeating: "a", count: 1_025)
        let body =
            "<ListPartsResult><Part><PartNumber>1</PartNumber><Size>8388608</Size><ETag>\(tag)</ETag></Part>"
            + "</ListPartsResult>"
        #expect(word(200, body, after: .list(Self.known, PartListing())) == "later")
    }

    @Test("a plan has at most four parts in flight, and a part that was given back is the next one")
    func plan() throws {
        let size = 5 * 8 * Self.mebibyte + 1
        var plan = PartPlan(size: size, partSize: 8 * Self.mebibyte, sent: [2])
        var taken: [UploadPart] = []
        while let part = plan.take() { taken.append(part) }
        #expect(taken.map(\.number) == [1, 3, 4, 5])
        #expect(plan.sentBytes == 8 * Self.mebibyte)
        plan.giveBack(taken[1])
        plan.finish(taken[0])
        #expect(plan.take()?.number == 3)
        #expect(plan.take()?.range == size - 1..<size)
        #expect(plan.mayTake == false && plan.isSent == false)
        plan.finish(taken[0])
        #expect(plan.sentBytes == 16 * Self.mebibyte)
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

    @Test("the first part continues the body of an earlier attempt, if the server has other parts")
    func firstPart() {
        let part = UploadPart(number: 1, range: 0..<8 * Self.mebibyte)
        let fresh = UploadResource(.s3, url: Self.known.url, longestAppend: 8 * Self.mebibyte)
        #expect(UploadStep.part(Self.known, part).continuesBody && !UploadStep.part(fresh, part).continuesBody)
    }

    @Test("the URLs of the steps")
    func urls() {
        let url = { UploadProtocol.s3.url(of: $0, "s3://bucket/key") }
        #expect(url(.whole) == "s3://bucket/key")
        #expect(url(.create) == "s3://bucket/key?uploads=")
        #expect(url(.part(Self.known, Self.second)) == "s3://bucket/key?uploadId=1&partNumber=2")
        #expect(url(.list(Self.known, PartListing())) == "s3://bucket/key?uploadId=1&max-parts=1000")
        #expect(url(.complete(Self.known, [])) == "s3://bucket/key?uploadId=1")
    }

    @Test(
        "the response to the request that makes an upload",
        arguments: [
            (
                200, "<InitiateMultipartUploadResult><UploadId>a b</UploadId></InitiateMultipartUploadResult>",
                "0 sent, then 0..<8388608, 8388608..<16777216, 16777216..<20971520"
            ),
            (200, "<InitiateMultipartUploadResult/>", "later"), (200, "<html></html>", "later"), (200, "", "later"),
            (503, "<Error><Code>SlowDown</Code></Error>", "later"), (403, "", "answer"),
            (400, "<Error><Code>RequestTimeout</Code></Error>", "later"),
        ])
    func created(_ status: Int32, _ body: String, _ expected: String) {
        #expect(word(status, body, after: .create) == expected)
    }

    @Test("a temporary error of an upload in one request is retried, whatever its status is")
    func temporary() {
        #expect(word(400, "<Error><Code>RequestTimeout</Code></Error>", after: .whole) == "later")
        #expect(word(400, "<Error><Code>InvalidDigest</Code></Error>", after: .whole) == "answer")
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

    @Test("parts that are missing, and parts of another size, are sent")
    func usable() {
        let full = 8 * Self.mebibyte
        let cases: [([(UInt64, UInt64)], String)] = [
            ([], "0 sent, then 0..<8388608, 8388608..<16777216, 16777216..<20971520"),
            ([(1, full)], "8388608 sent, then 8388608..<16777216, 16777216..<20971520"),
            ([(1, full), (3, 4 * Self.mebibyte)], "12582912 sent, then 8388608..<16777216"),
            ([(1, full), (2, full - 1)], "8388608 sent, then 8388608..<16777216, 16777216..<20971520"),
            ([(1, full), (2, full)], "16777216 sent, then 16777216..<20971520"),
            ([(1, full), (2, full), (3, 4 * Self.mebibyte)], "make the object"),
            ([(1, full), (2, full), (3, 4 * Self.mebibyte), (4, full), (1 << 63, full)], "make the object"),
            ([(2, full), (1, full)], "later"), ([(1, full), (1, full)], "later"),
        ]
        for (parts, expected) in cases {
            let body = "<ListPartsResult>\(parts.map { part($0, $1) }.joined())</ListPartsResult>"
            #expect(word(200, body, after: .list(Self.known, PartListing())) == expected)
        }
    }

    @Test("a size of the parts that is too small to be right is not used", arguments: [0, 1, 65_535] as [UInt64])
    func damagedPartSize(_ partSize: UInt64) {
        let damaged = UploadResource(.s3, url: Self.known.url, longestAppend: partSize)
        let body = "<ListPartsResult>\(part(2, 8 * Self.mebibyte))</ListPartsResult>"
        let expected = "8388608 sent, then 0..<8388608, 16777216..<20971520"
        #expect(word(200, body, after: .list(damaged, PartListing())) == expected)
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
        #expect(names(.part(Self.known, Self.second)) == ["X-Amz-Server-Side-Encryption-Customer-Key"])
        #expect(names(.complete(Self.known, [])) == ["If-None-Match", "X-Amz-Server-Side-Encryption-Customer-Key"])
    }
}
