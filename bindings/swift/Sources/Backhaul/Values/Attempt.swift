internal import CBackhaul

/// One attempt of a task. An attempt is one run of the task, with all its redirects. The engine is the process that
/// runs the tasks.
///
/// After a redirect, all times are those of the last request. Each duration is the time from `startedMilliseconds` to a
/// step. A duration is nil if the attempt did not reach the step. A duration is also nil if the attempt reused a
/// connection, and so did not need the step.
public struct Attempt: Hashable, Sendable {
    /// What followed an attempt.
    public enum Next: Hashable, Sendable {
        /// The task ended.
        case end
        /// The next attempt starts at this Unix time in milliseconds.
        case retry(atMilliseconds: Int64)
        /// A challenge was opened: a demand for a credential, new headers or a new URL.
        case challenge
        /// Nothing followed, because the task was suspended or the engine ended.
        case stopped
        /// Nothing followed yet, because the attempt is running.
        case running
    }

    /// The task of the attempt.
    public let taskID: TaskID
    /// The number of the attempt in its task, from 1.
    public let number: Int
    /// What followed the attempt.
    public let next: Next
    /// When the last request started, as Unix time in milliseconds.
    public let startedMilliseconds: Int64
    /// Why the attempt failed. Nil if it succeeded.
    public let error: BackhaulError?
    /// The URL of the last request; after redirects, without its query.
    public let url: String
    /// The status of the response. Nil if there was no response.
    public let httpStatus: Int?
    /// The number of redirects that were followed.
    public let redirects: Int
    /// The offset in the file at which the attempt started.
    public let offset: UInt64
    /// The number of the file's bytes that were stored when the attempt ended.
    public let endOffset: UInt64
    /// The time until the server's name was resolved.
    public let domainLookup: Duration?
    /// The time until the TCP connection, or the tunnel of the proxy, was ready.
    public let connect: Duration?
    /// The time until the TLS handshake was complete.
    public let secureConnection: Duration?
    /// The time until the engine began to send the request.
    public let requestStart: Duration?
    /// The time until the last byte of the request's body was sent.
    public let requestEnd: Duration?
    /// The time until the first byte of the response was received.
    public let responseStart: Duration?
    /// The time until the last byte of the response was received.
    public let responseEnd: Duration?
    /// The name of the protocol, as in RFC 7301, such as "h2" or "http/1.1".
    public let networkProtocol: String?
    /// Whether the attempt used a connection that was already open.
    public let isReusedConnection: Bool
    /// Whether the connection led to a proxy.
    public let isProxyConnection: Bool
    /// The address of this machine. Nil if there was no connection.
    public let localAddress: String?
    /// The port on this machine. 0 if there was no connection.
    public let localPort: Int
    /// The address of the server or proxy.
    public let remoteAddress: String?
    /// The port of the server or proxy. 0 if there was no connection.
    public let remotePort: Int
    /// The version of TLS, such as "TLSv1.3".
    public let tlsVersion: String?
    /// The cipher suite, such as "TLS_AES_256_GCM_SHA384".
    public let tlsCipher: String?
    /// The size of the sent header fields, of all requests of the attempt together.
    public let requestHeaderBytes: UInt64
    /// The number of sent bytes of the request's body.
    public let requestBodyBytes: UInt64
    /// The size of the received header fields, of all responses of the attempt together.
    public let responseHeaderBytes: UInt64
    /// The number of received bytes of the response's body.
    public let responseBodyBytes: UInt64

    // Unsafe: the pointers point into a batch, which is released after its items are copied.
    init(_ attempt: bh_attempt) {
        func reached(_ microseconds: Int64) -> Duration? { microseconds < 0 ? nil : .microseconds(microseconds) }
        taskID = TaskID(rawValue: attempt.task_id)
        number = Int(attempt.number)
        switch Int(attempt.next) {
        case BH_NEXT_END: next = .end
        case BH_NEXT_RETRY: next = .retry(atMilliseconds: attempt.next_attempt_ms)
        case BH_NEXT_CHALLENGE: next = .challenge
        case BH_NEXT_RUNNING: next = .running
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
