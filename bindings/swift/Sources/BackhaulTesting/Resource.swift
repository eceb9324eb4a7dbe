internal import CBackhaulTesting

/// What the origin has at one path. It answers requests with its content, with ranges, a strong entity tag and a date.
/// `drop`, `stall`, `corrupt`, `refuse` and `redirect` change one response each, in the order of the calls.
public final class Resource: @unchecked Sendable {
    // Unchecked: any thread may use the pointer (backhaul_testing.h, "Threads"). The testbed owns it.
    // Unsafe: the pointer is valid as long as the testbed, to which this object has a reference.
    private let pointer: OpaquePointer
    private let testbed: Testbed

    init(_ testbed: Testbed, _ pointer: OpaquePointer) {
        self.testbed = testbed
        self.pointer = pointer
    }

    /// The resource's URL.
    public var url: String { String(cString: bht_url(pointer)) }

    /// Replaces the content. The resource gets a new entity tag and a later date.
    public func replace(_ content: [UInt8]) { bht_replace(pointer, content, content.count) }

    /// From now on, requests need this credential. Others get the status 401.
    public func require(user: String, password: String) {
        precondition(!hasNUL(user + password), "the user or the password contains a NUL character; remove it")
        bht_require(pointer, user, password)
    }

    /// From now on, requests need no credential.
    public func requireNothing() { bht_require(pointer, nil, nil) }

    /// The connection is closed when the response has come to this byte of the content, counted from 0.
    public func drop(at offset: UInt64) { bht_drop(pointer, offset) }

    /// The response stops before this byte of the content, until `release`.
    public func stall(at offset: UInt64) { bht_stall(pointer, offset) }

    /// Continues all stalled responses, and removes the stalls that have not begun.
    public func release() { bht_release(pointer) }

    /// The response has another byte at this place. Its length and its entity tag are unchanged.
    public func corrupt(at offset: UInt64) { bht_corrupt(pointer, offset) }

    /// The response has this status, these header fields and no content:
    /// `refuse(503, headers: ["Retry-After": "7200"])`.
    public func refuse(_ status: Int, headers: [String: String] = [:]) {
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        precondition(!hasNUL(fields), "a header field contains a NUL character; remove it")
        bht_refuse(pointer, Int32(clamping: status), fields)
    }

    /// The response is a redirect (302) to this URL or path.
    public func redirect(to target: String) {
        precondition(!hasNUL(target), "the target contains a NUL character; percent-encode it")
        bht_redirect(pointer, target)
    }

    /// Waits until the resource has got this number of requests.
    ///
    /// - Throws: `BackhaulError` with `.timeout`.
    public func waitForRequests(_ count: Int, timeout: Duration = .seconds(10)) async throws {
        try await waiting { [self] in
            try check { bht_wait_for_requests(pointer, count, milliseconds(timeout), $0) }
        }
    }

    /// Waits until the origin has sent all bytes of the content before this one.
    ///
    /// - Throws: `BackhaulError` with `.timeout`.
    public func waitForBytes(_ count: UInt64, timeout: Duration = .seconds(10)) async throws {
        try await waiting { [self] in
            try check { bht_wait_for_bytes(pointer, count, milliseconds(timeout), $0) }
        }
    }

    /// A request that the origin got.
    public struct Request: Hashable, Sendable {
        /// Such as `GET`.
        public let method: String
        /// The whole head, with the request line. Lines end with a carriage return and a line feed.
        public let head: String
        /// The first byte that the request asks for. 0 without a `Range`.
        public let offset: UInt64
        /// The status of the response.
        public let status: Int
        /// The body of an upload.
        public let body: [UInt8]
    }

    /// The requests that the resource has got.
    public var requests: [Request] {
        (0..<bht_request_count(pointer)).compactMap { index in
            var raw = bht_request()
            raw.struct_size = MemoryLayout<bht_request>.size
            guard bht_request_at(pointer, index, &raw) else { return nil }
            // Unsafe: the testbed owns what the struct points to. It is copied here.
            return Request(
                method: String(cString: raw.method), head: String(cString: raw.head), offset: raw.offset,
                status: Int(raw.status), body: [UInt8](UnsafeRawBufferPointer(start: raw.body, count: raw.body_size)))
        }
    }
}
