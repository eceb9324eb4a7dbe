public import BackhaulModel

/// The method and body of the request that a transfer sends. Redirects may change both.
struct OutgoingRequest {
    private(set) var method: String
    private(set) var body: (any TransferBody)?
    private(set) var expectation: Expectation
    /// Whether the current request has the field Expect, if it is sent over HTTP/1.1.
    private(set) var hasExpectation = false
    /// How many bytes of the body were passed to libcurl in the current request.
    private(set) var sent: UInt64 = 0
    /// How many body bytes were passed to libcurl in all requests of the transfer together.
    private(set) var total: UInt64 = 0
    /// Whether a redirect dropped the body before all of it was sent.
    private var wasTruncated = false
    /// Whether libcurl has paused sending until the body's source has more bytes.
    var isPaused = false

    init(method: String, body: (any TransferBody)?, expectation: Expectation) {
        self.method = method
        self.body = body
        self.expectation = expectation
    }

    var bodySize: UInt64? {
        if let body { return body.size }
        // With these methods, a server expects "Content-Length: 0" for a request without a body (RFC 9110, section
        // 8.6).
        return ["PUT", "POST", "PATCH"].contains(method) ? 0 : nil
    }

    /// Returns the Expect line for libcurl's list of header lines. "Expect:" removes the field. If the line is nil,
    /// libcurl decides: it sends the field only over HTTP/1.1. Old versions of libcurl send the field with each body,
    /// whatever its size. `isIgnored` is true if the server has ignored the field of an earlier request.
    mutating func expectationLine(isIgnored: Bool) -> String? {
        hasExpectation = false
        guard let body else { return nil }
        switch expectation {
        case .whenLarge:
            hasExpectation = body.size > Self.largeSize && !isIgnored
            return hasExpectation ? nil : "Expect:"
        case .always:
            hasExpectation = true
            return "Expect: 100-continue"
        case .never: return "Expect:"
        }
    }

    private static let largeSize: UInt64 = 1 << 20

    /// Handles a response with status 417 (RFC 9110, section 15.5.18): later requests have no Expect field. Returns
    /// false if the request had no such field, so that the status has another meaning.
    mutating func dropExpectation(_ head: HeadCollector) -> Bool {
        guard hasExpectation, !head.isHTTP2 else { return false }
        expectation = .never
        return true
    }

    /// Whether the server has ignored the field Expect: it has accepted the whole body without an interim response with
    /// status 100 (Continue). If a server refuses the body, even after a second, it has not ignored the field.
    func wasExpectationIgnored(_ head: HeadCollector) -> Bool {
        hasExpectation && sent == bodySize && (200..<300).contains(head.status) && !head.isHTTP2 && !head.hasContinue
    }

    /// Resets the state of the current request. Must be called before each request, when the body is at its first byte.
    mutating func begin() {
        sent = 0
        isPaused = false
    }

    /// Adapts method and body to a redirect (RFC 9110, section 15.4). After 303, the next request is a GET, except that
    /// HEAD stays HEAD. After 301 and 302, POST becomes GET, as in all clients. In all other cases, method and body
    /// stay the same.
    mutating func follow(status: Int32) {
        guard (status == 303 && method != "HEAD") || ([301, 302].contains(status) && method == "POST") else {
            return
        }
        if let body, sent < body.size { wasTruncated = true }
        method = "GET"
        body = nil
    }

    /// Whether the whole body was passed to libcurl. False if a redirect has dropped the body before all of it was
    /// sent.
    var isComplete: Bool { !wasTruncated && sent >= body?.size ?? 0 }

    /// The body, if libcurl has not read all of it; otherwise nil.
    var bodyToRead: (any TransferBody)? {
        guard let body, sent < body.size else { return nil }
        return body
    }

    /// Counts the bytes that were read from the body. Returns how many bytes to send, or nil if sending must pause.
    mutating func didRead(_ read: BodyRead) -> Int? {
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

    /// The names of the header fields that describe a body. When a redirect drops the body, the transport also drops
    /// these fields (Fetch standard, "request-body-header name").
    fileprivate static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location", "content-digest", "repr-digest",
    ]
}

extension HeaderField {
    /// Whether the field describes the body of its request.
    public var describesBody: Bool { OutgoingRequest.bodyFields.contains(name.lowercased()) }
}

extension Transfer {
    /// How many bytes of the body were passed to libcurl in the current request.
    public var bodySent: UInt64 { outgoing.sent }
    /// How many body bytes were passed to libcurl in all requests together, including requests after redirects.
    public var bytesSent: UInt64 { outgoing.total }
    /// Whether the whole body was sent. This is true if all of the body was passed to libcurl. Over HTTP/1.x, the
    /// server's TCP must also have acknowledged all of the body.
    public var isBodySent: Bool { outgoing.isComplete && !exchange.hasUndrainedBody }

    func rewind() {
        outgoing.begin()
        outgoing.body?.rewind()
    }
}
