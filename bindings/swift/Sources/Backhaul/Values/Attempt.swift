internal import CBackhaul

/// One request of a task, redirects included. Durations count from its start; nil when that was not reached, or not
/// needed because a connection was used again.
public struct Attempt: Hashable, Sendable {
    /// What followed an attempt.
    public enum Next: Hashable, Sendable {
        /// The task ended.
        case end
        /// Another attempt, at this Unix time in milliseconds.
        case retry(atMilliseconds: Int64)
        case challenge
        /// Nothing: the task was suspended, or its engine ended.
        case stopped
    }

    public let taskID: TaskID
    /// From 1.
    public let number: Int
    public let next: Next
    /// Unix time in milliseconds.
    public let startedMilliseconds: Int64
    /// Nil: it succeeded.
    public let error: BackhaulError?
    /// Of the last request, after redirects.
    public let url: String
    /// Nil when no response came.
    public let httpStatus: Int?
    public let redirects: Int
    /// Of the file's byte that it began with.
    public let offset: UInt64
    /// Bytes of the file that were here after it.
    public let endOffset: UInt64
    /// The name was resolved.
    public let domainLookup: Duration?
    /// TCP, or the proxy's tunnel, was connected.
    public let connect: Duration?
    /// TLS was negotiated.
    public let secureConnection: Duration?
    /// The request was about to be sent.
    public let requestStart: Duration?
    /// Its last body byte was sent.
    public let requestEnd: Duration?
    /// The first byte of the response came.
    public let responseStart: Duration?
    public let responseEnd: Duration?
    /// "h2" or "http/1.1".
    public let networkProtocol: String?
    public let isReusedConnection: Bool
    public let isProxyConnection: Bool
    public let localAddress: String?
    public let localPort: Int
    /// Of the server or proxy.
    public let remoteAddress: String?
    public let remotePort: Int
    /// "TLSv1.3"
    public let tlsVersion: String?
    /// "TLS_AES_256_GCM_SHA384"
    public let tlsCipher: String?
    public let requestHeaderBytes: UInt64
    public let requestBodyBytes: UInt64
    public let responseHeaderBytes: UInt64
    public let responseBodyBytes: UInt64

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ attempt: bh_attempt) {
        func reached(_ microseconds: Int64) -> Duration? { microseconds < 0 ? nil : .microseconds(microseconds) }
        taskID = attempt.task_id
        number = Int(attempt.number)
        switch Int(attempt.next) {
        case BH_NEXT_END: next = .end
        case BH_NEXT_RETRY: next = .retry(atMilliseconds: attempt.next_attempt_ms)
        case BH_NEXT_CHALLENGE: next = .challenge
        default: next = .stopped
        }
        startedMilliseconds = attempt.started_ms
        error =
            Int(attempt.status) == BH_OK
            ? nil
            : BackhaulError(
                Int(attempt.status), domain: attempt.error_domain, detail: attempt.error_detail,
                message: text(attempt.error_message))
        url = text(attempt.url) ?? ""
        httpStatus = attempt.http_status == 0 ? nil : Int(attempt.http_status)
        redirects = Int(attempt.redirects)
        offset = attempt.offset
        endOffset = attempt.end_offset
        domainLookup = reached(attempt.domain_lookup_us)
        connect = reached(attempt.connect_us)
        secureConnection = reached(attempt.secure_connection_us)
        requestStart = reached(attempt.request_start_us)
        requestEnd = reached(attempt.request_end_us)
        responseStart = reached(attempt.response_start_us)
        responseEnd = reached(attempt.response_end_us)
        networkProtocol = text(attempt.protocol)
        isReusedConnection = attempt.reused_connection
        isProxyConnection = attempt.proxy_connection
        localAddress = text(attempt.local_address)
        localPort = Int(attempt.local_port)
        remoteAddress = text(attempt.remote_address)
        remotePort = Int(attempt.remote_port)
        tlsVersion = text(attempt.tls_version)
        tlsCipher = text(attempt.tls_cipher)
        requestHeaderBytes = attempt.request_header_bytes
        requestBodyBytes = attempt.request_body_bytes
        responseHeaderBytes = attempt.response_header_bytes
        responseBodyBytes = attempt.response_body_bytes
    }
}
