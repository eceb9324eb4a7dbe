import BackhaulModel
import Testing

@Suite("Requests to the server of metrics")
struct ScrapeRequestTests {
    private func read(_ text: String, isTCP: Bool = true) -> ScrapeRequest? {
        ScrapeRequest.read(Array(text.utf8), isTCP: isTCP)
    }

    private static let accept =
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

    @Test(
        "a client gets OpenMetrics only if it names this type in version 1.0.0",
        arguments: [
            (accept, .openMetrics), ("text/plain, Application/OpenMetrics-Text", .openMetrics),
            ("application/openmetrics-text; version=0.0.1", .prometheus), ("*/*", .prometheus), ("", .prometheus),
            ("application/openmetrics-text;q=0", .prometheus), ("application/openmetrics-textual", .prometheus),
        ] as [(String, ScrapeFormat)])
    func format(accept: String, format: ScrapeFormat) {
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost:9100\r\nAccept: \(accept)\r\n\r\n"
        #expect(read(request) == .metrics(format, hasBody: true))
    }

    @Test(
        "HTTP/1.1 and HTTP/1.0 are understood, with and without a query",
        arguments: [
            "GET /metrics HTTP/1.0\r\n\r\n", "GET /metrics HTTP/1.0\n\n",
            "GET /metrics?a=b HTTP/1.1\r\nhost:[::1]\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\nmore bytes",
        ])
    func accepted(request: String) { #expect(read(request) == .metrics(.prometheus, hasBody: true)) }

    @Test("the method HEAD gets no body")
    func head() { #expect(read("HEAD /metrics HTTP/1.0\r\n\r\n") == .metrics(.prometheus, hasBody: false)) }

    @Test(
        "other requests are refused",
        arguments: [
            ("GET / HTTP/1.0\r\n\r\n", .notFound), ("GET /metrics/ HTTP/1.0\r\n\r\n", .notFound),
            ("POST /metrics HTTP/1.0\r\n\r\n", .methodNotAllowed), ("get /metrics HTTP/1.0\r\n\r\n", .methodNotAllowed),
            ("GET /metrics\r\n\r\n", .badRequest), ("GET /metrics HTTP/2.0\r\n\r\n", .badRequest),
            ("GET  /metrics HTTP/1.0\r\n\r\n", .badRequest), ("\r\n\r\n", .badRequest), ("\n", .badRequest),
            ("GET /metrics HTTP/1.1\r\n\r\n", .badRequest), (" GET /metrics HTTP/1.0\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/1.0\r\nno colon\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/1.0\r\nHost : localhost\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/1.0\r\n folded: a\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/1.1\r\nHost: rebound.example:9100\r\n\r\n", .misdirected),
            ("GET /metrics HTTP/1.1\r\nHost: localhost.example\r\n\r\n", .misdirected),
        ] as [(String, ScrapeRefusal)])
    func refused(request: String, refusal: ScrapeRefusal) { #expect(read(request) == .refused(refusal)) }

    @Test("over a Unix socket, the name of the server does not matter")
    func unixHost() {
        let request = "GET /metrics HTTP/1.1\r\nHost: anything\r\n\r\n"
        #expect(read(request, isTCP: false) == .metrics(.prometheus, hasBody: true))
    }

    @Test("each beginning of a request is incomplete")
    func incomplete() {
        let request = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        for count in 0..<request.count - 1 {
            #expect(ScrapeRequest.read(Array(request.prefix(count)), isTCP: true) == nil)
        }
    }

    @Test("a header that is too large is refused before it is complete")
    func tooLarge() {
        let request = "GET /metrics HTTP/1.0\r\nA: " + String(repeating: "a", count: ScrapeRequest.sizeLimit)
        #expect(read(request) == .refused(.badRequest))
        #expect(read(request + "\r\n\r\n") == .refused(.badRequest))
    }

    @Test("a response states its type and its length, and closes the connection")
    func response() {
        let metrics = "# TYPE a counter\n# HELP a A.\na_total 1\n# EOF\n"
        let bytes = ScrapeResponse.bytes(metrics, .openMetrics, hasBody: true)
        #expect(
            String(decoding: bytes, as: UTF8.self) == "HTTP/1.1 200 OK\r\n"
                + "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
                + "Content-Length: \(metrics.utf8.count)\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
                + metrics)
        let head = ScrapeResponse.bytes(metrics, .openMetrics, hasBody: false)
        #expect(bytes.starts(with: head) && bytes.count - head.count == metrics.utf8.count)
    }

    @Test("a refusal of the method names the methods that are allowed")
    func allowed() {
        let text = String(decoding: ScrapeResponse.bytes(.methodNotAllowed), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n") && text.contains("\r\nAllow: GET, HEAD\r\n"))
    }
}

@Suite("Addresses of metrics")
struct MetricsAddressTests {
    @Test(
        "a path and the loopback addresses are accepted",
        arguments: ["unix:/run/user/1/b.sock", "127.0.0.1:1", "[::1]:65535"])
    func accepted(text: String) throws { #expect(try MetricsAddress(text).text == text) }

    @Test(
        "other addresses are refused with the reason",
        arguments: [
            ("0.0.0.0:80", "no password"), ("localhost:80", "no password"), ("[::]:80", "no password"),
            ("127.0.0.2:80", "no password"), (":80", "no password"), ("127.0.0.1:0", "a port from 1 to 65535"),
            ("127.0.0.1:65536", "a port"), ("127.0.0.1", "a port"), ("127.0.0.1:+8", "a port"), ("", "a port"),
            ("unix:b.sock", "must be absolute"), ("unix:/", "must be absolute"), ("unix:", "must be absolute"),
        ])
    func refused(text: String, reason: String) throws {
        let failure = #expect(throws: Failure.self) { try MetricsAddress(text) }
        #expect(failure?.message.contains(reason) == true)
    }
}
