/// What an HTTP client requests from the server of metrics, and what it gets (RFC 9110, RFC 9112). The server is
/// written by hand: libcurl has no server, and libmicrohttpd would be one more library in each host, for one response.
public enum ScrapeRequest: Equatable, Sendable {
    /// `hasBody`: false for the method HEAD.
    case metrics(ScrapeFormat, hasBody: Bool)
    case refused(ScrapeRefusal)

    /// The most bytes of a request line with its header fields. Prometheus sends about 400 bytes.
    public static let sizeLimit = 8_192

    /// Reads the first bytes of a connection. Returns nil while the head of the request is incomplete. `isTCP`: whether
    /// the client has connected to a port, and not to a Unix socket.
    public static func read(_ bytes: [UInt8], isTCP: Bool) -> ScrapeRequest? {
        guard let lines = head(bytes.prefix(sizeLimit)) else {
            return bytes.count < sizeLimit ? nil : .refused(.badRequest)
        }
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", isToken(words[0]),
            let fields = fields(lines.dropFirst())
        else { return .refused(.badRequest) }
        let hosts = fields.filter { $0.name == "host" }.map(\.value)
        guard hosts.count == 1 || hosts.isEmpty && words[2] == "HTTP/1.0" else { return .refused(.badRequest) }
        if isTCP, let host = hosts.first, !isLoopback(host) { return .refused(.misdirected) }
        guard words[1].prefix(while: { $0 != "?" }) == "/metrics" else { return .refused(.notFound) }
        guard words[0] == "GET" || words[0] == "HEAD" else { return .refused(.methodNotAllowed) }
        let accepts = fields.filter { $0.name == "accept" }.map(\.value).joined(separator: ",")
        return .metrics(ScrapeFormat(accepts), hasBody: words[0] == "GET")
    }

    /// Returns the lines before the first empty line. Nil if there is no empty line yet.
    private static func head(_ bytes: ArraySlice<UInt8>) -> [Substring]? {
        var lines: [Substring] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            let isEnded = line.last == UInt8(ascii: "\r")
            let text = String(decoding: isEnded ? line.dropLast() : line, as: UTF8.self)
            if text.isEmpty { return lines }
            lines.append(Substring(text))
        }
        return nil
    }

    private static func fields(_ lines: ArraySlice<Substring>) -> [(name: String, value: Substring)]? {
        var fields: [(name: String, value: Substring)] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]) else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append((line[..<colon].lowercased(), value))
        }
        return fields
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Whether the name of the server in the request is a name of this machine. A page of the Web may have a name that
    /// leads to this machine (DNS rebinding), so that a browser could read the metrics for the page.
    private static func isLoopback(_ host: Substring) -> Bool {
        let text = host.lowercased()
        let name = text.hasPrefix("[") ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name)
    }
}

/// The text formats of metrics.
public enum ScrapeFormat: Equatable, Sendable {
    case openMetrics, prometheus

    /// OpenMetrics, if the value of the field Accept names it (RFC 9110, section 12.5.1). A client that accepts any
    /// type gets the format of Prometheus, which more programs can read.
    init(_ accepts: String) {
        let isNamed = accepts.split(separator: ",").contains { range in
            let parts = range.lowercased().split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard parts.first == "application/openmetrics-text" else { return false }
            let version = parts.first { $0.hasPrefix("version=") }
            let quality = parts.first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0 && (version == nil || version == "version=1.0.0")
        }
        self = isNamed ? .openMetrics : .prometheus
    }

    public var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        }
    }
}

/// Why a client gets no metrics.
public enum ScrapeRefusal: String, Equatable, Sendable {
    case badRequest = "400 Bad Request"
    case notFound = "404 Not Found"
    case methodNotAllowed = "405 Method Not Allowed"
    case misdirected = "421 Misdirected Request"
    case unavailable = "503 Service Unavailable"

    fileprivate var sentence: String {
        switch self {
        case .badRequest: "this is no request of HTTP/1.1 or HTTP/1.0, or its header is too large"
        case .notFound: "only /metrics is here"
        case .methodNotAllowed: "use GET"
        case .misdirected: "use the address 127.0.0.1, [::1] or localhost"
        case .unavailable: "the engine cannot read its store now"
        }
    }
}

/// The bytes of a response. After each response, the connection is closed.
public enum ScrapeResponse {
    /// `openMetrics`: the metrics as OpenMetrics text.
    public static func bytes(_ openMetrics: String, _ format: ScrapeFormat, hasBody: Bool) -> [UInt8] {
        let text = format == .openMetrics ? openMetrics : PrometheusText.write(openMetrics)
        return response("200 OK", format.contentType, text, hasBody: hasBody)
    }

    public static func bytes(_ refusal: ScrapeRefusal) -> [UInt8] {
        let allowed = refusal == .methodNotAllowed ? "Allow: GET, HEAD\r\n" : ""
        return response(refusal.rawValue, "text/plain; charset=utf-8", refusal.sentence + "\n", allowed, hasBody: true)
    }

    private static func response(
        _ status: String, _ contentType: String, _ body: String, _ fields: String = "", hasBody: Bool
    ) -> [UInt8] {
        let head = """
            HTTP/1.1 \(status)\r
            Content-Type: \(contentType)\r
            Content-Length: \(body.utf8.count)\r
            Cache-Control: no-store\r
            Connection: close\r
            \(fields)\r

            """
        return Array(head.utf8) + (hasBody ? Array(body.utf8) : [])
    }
}
