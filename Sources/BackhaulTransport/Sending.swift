/// What a transfer sends, as the redirects so far leave it.
struct Sending {
    private(set) var method: String
    private(set) var body: (any TransferBody)?
    private(set) var expectation: Expectation
    /// Of the body, in the request that is under way.
    private(set) var sent: UInt64 = 0
    /// Over all requests.
    private(set) var total: UInt64 = 0
    /// A redirect came before the body had been sent, and it is not sent again.
    private var wasCut = false
    /// libcurl was told to wait for bytes.
    var isPaused = false

    init(method: String, body: (any TransferBody)?, expectation: Expectation) {
        self.method = method
        self.body = body
        self.expectation = expectation
    }

    var bodySize: UInt64? {
        if let body { return body.size }
        // "Content-Length: 0" is expected of methods that define what a body means (RFC 9110, section 8.6).
        return ["PUT", "POST", "PATCH"].contains(method) ? 0 : nil
    }

    /// Nil: libcurl's own, which old versions have for a body of any size, and all of them over HTTP/1.1 only.
    var expectationLine: String? {
        guard let body else { return nil }
        switch expectation {
        case .whenLarge: return body.size > Self.largeSize ? nil : "Expect:"
        case .always: return "Expect: 100-continue"
        case .never: return "Expect:"
        }
    }

    private static let largeSize: UInt64 = 1 << 20

    /// The server said 417 (RFC 9110, section 15.5.18) to an expectation that may have been sent: false when none was.
    mutating func dropExpectation() -> Bool {
        guard body != nil, expectation != .never else { return false }
        expectation = .never
        return true
    }

    /// Before each request, with the body at its first byte.
    mutating func begin() {
        sent = 0
        isPaused = false
    }

    /// RFC 9110, section 15.4: after 303 one asks for the answer; POST becomes GET at 301 and 302, as everyone does it;
    /// all else is repeated as it was.
    mutating func follow(status: Int32) {
        guard (status == 303 && method != "HEAD") || ([301, 302].contains(status) && method == "POST") else {
            return
        }
        if let body, sent < body.size { wasCut = true }
        method = "GET"
        body = nil
    }

    /// All of the body was handed over for sending, in a request that the server did not redirect before.
    var isComplete: Bool { !wasCut && sent >= body?.size ?? 0 }

    /// Nil when all of the body was given.
    var bodyToRead: (any TransferBody)? {
        guard let body, sent < body.size else { return nil }
        return body
    }

    /// How many bytes are to be sent of those that the body has given; nil: none for now.
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

    /// Fields that describe a body, and go with it (Fetch, "request-body-header name").
    static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location", "content-digest", "repr-digest",
    ]
}

extension Transfer {
    /// Of the request's body, in the request that is under way: handed to libcurl.
    public var bodySent: UInt64 { sending.sent }
    /// The same over all requests, redirected ones included.
    public var bytesSent: UInt64 { sending.total }
    /// The whole body was handed over for sending, and over HTTP/1.x the server has taken it from the kernel.
    public var isBodySent: Bool { sending.isComplete && !leftUntaken }

    func rewind() {
        sending.begin()
        sending.body?.rewind()
    }
}
