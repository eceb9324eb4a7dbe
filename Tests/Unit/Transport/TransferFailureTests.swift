import BackhaulModel
import BackhaulPlatform
import CCurl
import Testing

@testable import BackhaulTransport

@Suite("The meaning of a libcurl code")
struct TransferFailureTests {
    @Test("each libcurl code becomes a status with which a task can fail")
    func total() {
        for number in 1..<UInt32(CURL_LAST.rawValue) {
            let code = CURLcode(rawValue: number)
            for headIsWhole in [false, true] {
                let classification = TransferFailure.classification(
                    FailureReport(code), headIsWhole: headIsWhole, hasReceived: headIsWhole)
                let isOurs = classification.status == .internal || classification.status == .outOfResources
                #expect(classification.status.rawValue >= 40 || isOurs, "code \(number)")
            }
        }
    }

    @Test("after the server has sent bytes, no libcurl code becomes an internal error")
    func serversCauseNoInternalError() {
        for number in 1..<UInt32(CURL_LAST.rawValue) {
            for headIsWhole in [false, true] {
                let classification = TransferFailure.classification(
                    FailureReport(CURLcode(rawValue: number)), headIsWhole: headIsWhole, hasReceived: true)
                #expect(classification.status != .internal, "code \(number)")
            }
        }
    }

    @Test(
        "a libcurl code for invalid chunks or frames means a protocol error",
        arguments: [
            (CURLE_RECV_ERROR, "Illegal or missing hexadecimal sequence in chunked-encoding"),
            (CURLE_RECV_ERROR, "h2_process_pending_input: nghttp2_session_mem_recv() returned -505:Protocol error"),
        ])
    func violations(code: CURLcode, reason: String) {
        #expect(
            TransferFailure.classification(FailureReport(code, reason: reason), headIsWhole: true, hasReceived: true)
                == TransferFailure.Classification(.badResponse, transient: false))
    }

    @Test(
        "a stream that ends with an error means a bad response, which may pass",
        arguments: [
            "HTTP/2 stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)",
            "HTTP/2 stream 1 was not closed cleanly: COMPRESSION_ERROR (err 9)",
            "HTTP/2 stream 1 reset by server (error 0x1 PROTOCOL_ERROR)",
            "Invalid HTTP header field was received: frame type: 1, stream: 1, name: [X-Upper], value: [1]",
        ])
    func streamErrors(reason: String) {
        let report = FailureReport(CURLE_HTTP2_STREAM, reason: reason)
        #expect(
            TransferFailure.classification(report, headIsWhole: true, hasReceived: true)
                == TransferFailure.Classification(.badResponse, transient: true))
    }

    @Test("an invalid TLS record means a server without TLS before the handshake, and a lost connection after it")
    func records() {
        let reason = "OpenSSL: error:0A00010B:SSL routines::wrong version number"
        let (before, _) = TransferFailure.failure(
            FailureReport(CURLE_SSL_CONNECT_ERROR, reason: reason), server: "https://a:443", headIsWhole: false,
            hasReceived: false)
        #expect(before.status == .tlsFailed && before.message.has("is it an http server?"))
        let (after, isTransient) = TransferFailure.failure(
            FailureReport(CURLE_RECV_ERROR, reason: reason), server: "https://a:443", headIsWhole: true,
            hasReceived: true)
        #expect(after.status == .connectionLost && isTransient && after.message.has("no valid TLS record"))
    }

    @Test(
        "the number of received bytes distinguishes a lack of memory from a too long header line",
        .enabled(if: Workaround.longHeaderLine.isActive),
        arguments: [
            (Int64?(200), false, Status.outOfResources, true),
            (Int64?(100 << 10), false, .badResponse, false),
            (nil, false, .outOfResources, true),
            (nil, true, .badResponse, false),
        ])
    func memory(received: Int64?, mayBeTunnel: Bool, status: Status, isTransient: Bool) {
        var report = FailureReport(CURLE_OUT_OF_MEMORY)
        report.receivedBytes = received
        report.mayBeTunnel = mayBeTunnel
        #expect(
            TransferFailure.classification(report, headIsWhole: false, hasReceived: true)
                == TransferFailure.Classification(status, transient: isTransient))
    }

    @Test("libcurl's code for a lack of memory in nghttp2 becomes the status `outOfResources`")
    func memoryForHTTP2() {
        let report = FailureReport(CURLE_RECV_ERROR, reason: "nghttp2_session_mem_recv() returned -901:Out of memory")
        #expect(
            TransferFailure.classification(report, headIsWhole: false, hasReceived: true)
                == TransferFailure.Classification(.outOfResources, transient: true))
    }

    @Test(
        "failures of the network are transient; failures of trust, protocol or redirects are permanent",
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, Status.nameNotResolved, true),
            (CURLE_COULDNT_CONNECT, .connectionFailed, true),
            (CURLE_PARTIAL_FILE, .connectionLost, true),
            (CURLE_RECV_ERROR, .connectionLost, true),
            (CURLE_HTTP2_STREAM, .connectionLost, true),
            (CURLE_OPERATION_TIMEDOUT, .requestTimeout, true),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed, true),
            (CURLE_PEER_FAILED_VERIFICATION, .tlsFailed, false),
            (CURLE_SSL_CACERT_BADFILE, .tlsFailed, false),
            (CURLE_WEIRD_SERVER_REPLY, .badResponse, false),
            (CURLE_TOO_MANY_REDIRECTS, .redirectRefused, false),
        ])
    func meanings(code: CURLcode, status: Status, isTransient: Bool) {
        #expect(
            TransferFailure.classification(FailureReport(code), headIsWhole: true, hasReceived: true)
                == TransferFailure.Classification(status, transient: isTransient))
    }

    @Test(
        "the same request may succeed later if a certificate is not valid yet, but not if it has expired",
        arguments: [(9, 0, true), (0, 9, true), (10, 0, false), (10, 9, false), (0, 0, false)])
    func validity(server: Int, proxy: Int, isTransient: Bool) {
        var report = FailureReport(CURLE_PEER_FAILED_VERIFICATION)
        (report.verifyResult, report.proxyVerifyResult) = (server, proxy)
        let (failure, mayBeRetried) = TransferFailure.failure(
            report, server: "https://a:443", headIsWhole: false, hasReceived: false)
        #expect((failure.status, mayBeRetried, report.isNotYetValid) == (.tlsFailed, isTransient, isTransient))
    }

    @Test("the message of a transfer's failure has the server and libcurl's reason")
    func sentence() {
        let (failure, _) = TransferFailure.failure(
            FailureReport(CURLE_COULDNT_CONNECT, reason: "Connection refused"), server: "http://a:80",
            headIsWhole: false, hasReceived: false)
        #expect(failure.message == "no connection to http://a:80 can be made: Connection refused")
        #expect(failure.domain == .curl)
        #expect(failure.detail == Int64(CURLE_COULDNT_CONNECT.rawValue))
        var byProxy = FailureReport(CURLE_COULDNT_CONNECT, reason: "Connection refused")
        byProxy.proxy = "http://proxy:3128"
        let (proxied, _) = TransferFailure.failure(
            byProxy, server: "http://a:80", headIsWhole: false, hasReceived: false)
        #expect(proxied.message == "no connection to the proxy http://proxy:3128 can be made: Connection refused")
        let (unexplained, _) = TransferFailure.failure(
            FailureReport(CURLE_GOT_NOTHING), server: "http://a:80", headIsWhole: false, hasReceived: false)
        #expect(unexplained.message.hasPrefix("the connection to http://a:80 broke: "))
    }
}

@Suite("The head of a response")
struct HeadCollectorTests {
    private func collect(_ lines: [String]) -> (HeadCollector, HeadCollector.Step) {
        var head = HeadCollector()
        var step = HeadCollector.Step.more
        for line in lines { step = head.add("\(line)\r\n".utf8) }
        return (head, step)
    }

    @Test("the head of a response keeps its fields in order, without spaces around their values")
    func fields() {
        let (head, step) = collect(["HTTP/1.1 200 OK", "A:  1 ", "b:2", "A: 3\t", "Empty:", ""])
        #expect(step == .complete)
        #expect(head.status == 200)
        #expect(
            head.fields == [
                ResponseField("A", "1"), ResponseField("b", "2"), ResponseField("A", "3"), ResponseField("Empty", ""),
            ])
    }

    @Test("the head of a response may have folded lines")
    func folded() {
        let (head, _) = collect(["HTTP/1.1 200 OK", "A: 1", "  2", "\t3", ""])
        #expect(head.value("a") == "1 2 3")
    }

    @Test("the head of a response starts again after an interim response")
    func interim() {
        let (head, step) = collect(["HTTP/1.1 100 Continue", "A: 1", "", "HTTP/2 204", "B: 2", ""])
        #expect(step == .complete)
        #expect(head.isHTTP2)
        #expect(head.status == 204)
        #expect(head.fields == [ResponseField("B", "2")])
    }

    @Test("interim responses that report progress do not count towards the limit of lines")
    func progress() {
        var head = HeadCollector()
        for _ in 0..<HeadCollector.fieldLimit {
            for line in ["HTTP/1.1 104 A", "Upload-Offset: 1", ""] {
                if case .broken(let reason) = head.add(Array("\(line)\r\n".utf8)) { Issue.record("\(reason)") }
            }
            head.forgetInterims()
        }
    }

    @Test("the head of a response does not include trailer fields")
    func trailers() {
        let (head, step) = collect(["HTTP/1.1 200 OK", "", "A: late", ""])
        #expect(step == .more)
        #expect(head.fields.isEmpty)
    }

    @Test("a head with too many lines or bytes is invalid")
    func limits() {
        let many = ["HTTP/1.1 200 OK"] + Array(repeating: "A: 1", count: HeadCollector.fieldLimit)
        guard case .broken = collect(many).1 else {
            Issue.record("not broken")
            return
        }
        let long = ["HTTP/1.1 200 OK", "A: " + String(repeating: "a", count: HeadCollector.sizeLimit)]
        guard case .broken = collect(long).1 else {
            Issue.record("not broken")
            return
        }
    }

    @Test(
        "a head is invalid if its status is not a number of three digits",
        arguments: [
            "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 abc", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 +20", "HTTP/1.1 -20",
            "HTTP/1.1 099", "HTTP/1.1 200x", "HTTP/1.1 200\tOK", "HTTP/1.1 \t200", "HTTP/1.1 \u{0662}00",
        ])
    func oddStatus(line: String) { #expect(isBroken([line])) }

    @Test("only the first line of a response is a status line")
    func statusLineAsField() {
        let (head, step) = collect(["HTTP/1.1 404 Not Found", "A: 1", "HTTP/1.1 200 OK: x", "HTTP/1.1 200", ""])
        #expect(step == .complete)
        #expect(head.status == 404)
        #expect(head.fields == [ResponseField("A", "1"), ResponseField("HTTP/1.1 200 OK", "x")])
    }

    @Test("after an interim response, the first line is a status line")
    func afterInterim() { #expect(isBroken(["HTTP/1.1 100 Continue", "", "A: 1"])) }

    @Test("a line with CR or NUL inside is invalid", arguments: ["A: 1\r0", "\rA: 1", "A: 1\r", "\r", "A: 1\0", "\0"])
    func controls(line: String) { #expect(isBroken(["HTTP/1.1 200 OK", line])) }

    @Test("a folded line after the status line is invalid", arguments: [" a: 1", "\ta"])
    func foldedFirst(line: String) { #expect(isBroken(["HTTP/1.1 200 OK", line])) }

    @Test("a folded value begins and ends without white space")
    func foldedAlone() {
        #expect(collect(["HTTP/1.1 200 OK", "A:", "  2", " ", ""]).0.fields == [ResponseField("A", "2")])
    }

    @Test(
        "Retry-After is a number of seconds or a date; a past date or an invalid value is a delay of 0",
        arguments: [
            ("17", 17), ("0", 0), ("99999999999999999999", Int64.max), ("-5", 0), ("", nil), ("soon", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ])
    func retryAfter(value: String, seconds: Int64?) {
        let (head, _) = collect(["HTTP/1.1 503 Busy", "Retry-After: \(value)", "Retry-After: 9", ""])
        #expect(head.retryAfterSeconds == seconds)
    }

    @Test("a date in Retry-After is the delay until that date")
    func retryAfterDate() throws {
        let (head, _) = collect(["HTTP/1.1 503 Busy", "Retry-After: Fri, 01 Jan 2100 00:00:00 GMT", ""])
        let date: Int64 = 4_102_444_800
        let longest = date - Clock.wallMilliseconds / 1_000
        let seconds = try #require(head.retryAfterSeconds)
        #expect((date - Clock.wallMilliseconds / 1_000...longest).contains(seconds))
    }

    @Test(
        "a date in Retry-After is compared with the server's Date, not with the clock of this machine",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:51:37 GMT", 120),
            ("Fri, 01 Jan 2100 00:00:00 GMT", "Fri, 01 Jan 2100 01:00:00 GMT", 3_600),
            ("Fri, 01 Jan 2100 00:00:00 GMT", "Thu, 31 Dec 2099 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "7", 7),
        ])
    func retryAfterServersDate(date: String, value: String, seconds: Int64?) {
        let (head, _) = collect(["HTTP/1.1 503 Busy", "Date: \(date)", "Retry-After: \(value)", ""])
        #expect(head.retryAfterSeconds == seconds)
    }

    private func isBroken(_ lines: [String]) -> Bool { if case .broken = collect(lines).1 { true } else { false } }

    @Test(
        "a head with a space before the colon of a framing field is marked as invalid",
        arguments: [
            "Content-Length : 5", "Transfer-Encoding : chunked", "transfer-encoding\t: chunked",
        ])
    func blankBeforeColon(line: String) {
        let (head, _) = collect(["HTTP/1.1 200 OK", line, ""])
        #expect(head.hasInvalidFraming)
    }

    @Test(
        "a head with an unknown version of HTTP is invalid",
        arguments: [
            "HTTP/", "HTTP/x.y 200", "HTTP/1. 200", "HTTP/1.10 200", "HTTP/20 200", "HTTP/ 200",
        ])
    func oddVersion(line: String) {
        guard case .broken = collect([line, ""]).1 else {
            Issue.record("not broken")
            return
        }
    }

    @Test("a head without a status line is invalid", arguments: ["", "A: 1", "SSH-2.0-OpenSSH_9.2", "\0"])
    func noStatusLine(line: String) {
        guard case .broken = collect([line, ""]).1 else {
            Issue.record("not broken")
            return
        }
    }

    @Test(
        "a head is valid in each known version of HTTP",
        arguments: ["HTTP/1.0 200", "HTTP/1.1 200", "HTTP/2 200", "HTTP/3 200"])
    func versions(line: String) {
        let (head, step) = collect([line, ""])
        #expect(step == .complete)
        #expect(head.status == 200)
    }
}
