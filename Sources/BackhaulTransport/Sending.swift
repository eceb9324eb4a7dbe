/// The method and body that a transfer sends, as changed by the redirects so far.
struct Sending {
    private(set) var method: String
    private(set) var body: (any TransferBody)?
    private(set) var expectation: Expectation
    /// The bytes of the body that were passed to libcurl in the current request.
    private(set) var sent: UInt64 = 0
    /// The bytes of bodies that were passed to libcurl over all requests.
    private(set) var total: UInt64 = 0
    /// Whether a redirect dropped the body before all of it was sent.
    private var wasCut = false
    /// Whether libcurl's sending is paused until the body has more bytes.
    var isPaused = false

    init(method: String, body: (any TransferBody)?, expectation: Expectation) {
        self.method = method
        self.body = body
        self.expectation = expectation
    }

    var bodySize: UInt64? {
        if let body { return body.size }
        // A server expects "Content-Length: 0" with methods that define a meaning of the body (RFC 9110, section 8.6).
        return ["PUT", "POST", "PATCH"].contains(method) ? 0 : nil
    }

    /// The Expect line for libcurl's list. Nil keeps libcurl's default: it sends Expect over HTTP/1.1 only. Old
    /// versions do so for a body of any size.
    var expectationLine: String? {
        guard let body else { return nil }
        switch expectation {
        case .whenLarge: return body.size > Self.largeSize ? nil : "Expect:"
        case .always: return "Expect: 100-continue"
        case .never: return "Expect:"
        }
    }

    private static let largeSize: UInt64 = 1 << 20

    /// Handles a 417 (RFC 9110, section 15.5.18): later requests have no Expect. Returns false if the request cannot
    /// have had one.
    mutating func dropExpectation() -> Bool {
        guard body != nil, expectation != .never else { return false }
        expectation = .never
        return true
    }

    /// Resets the counters. Called before each request, when the body is at its first byte.
    mutating func begin() {
        sent = 0
        isPaused = false
    }

    /// Adapts method and body to a redirect (RFC 9110, section 15.4). After 303 the next request is a GET. POST becomes
    /// GET after 301 and 302, as in all clients. Otherwise method and body stay the same.
    mutating func follow(status: Int32) {
        guard (status == 303 && method != "HEAD") || ([301, 302].contains(status) && method == "POST") else {
            return
        }
        if let body, sent < body.size { wasCut = true }
        method = "GET"
        body = nil
    }

    /// Whether the whole body was passed to libcurl. False after a redirect that dropped an unsent part of the body.
    var isComplete: Bool { !wasCut && sent >= body?.size ?? 0 }

    /// The body, if some of it is still to be read; otherwise nil.
    var bodyToRead: (any TransferBody)? {
        guard let body, sent < body.size else { return nil }
        return body
    }

    /// Counts what the body returned. Returns the number of bytes to send, or nil to pause sending.
    mutating func gave(_ read: BodyRead) -> Int? {
        switch read {
        case .bytes(let count):
            let count = Int(clamping: min(UInt64(clamping: count), (body?.size ?? sent) - sent))
            sent += UInt64(count)
            total += UInt64(count)
            return count
        case .wait:
            isPaused = true
            return nil
        }
    }

    /// The names of fields that describe a body. They are dropped with it (Fetch, "request-body-header name").
    static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location", "content-digest", "repr-digest",
    ]
}

extension Transfer {
    /// The bytes of the body that were passed to libcurl in the current request.
    public var bodySent: UInt64 { sending.sent }
    /// The bytes of bodies that were passed to libcurl in all requests, including redirected ones.
    public var bytesSent: UInt64 { sending.total }
    /// Whether the whole body was sent: libcurl has all of it, and over HTTP/1.x the server has taken it from the
    /// kernel.
    public var isBodySent: Bool { sending.isComplete && !leftUntaken }

    func rewind() {
        sending.begin()
        sending.body?.rewind()
    }
}
