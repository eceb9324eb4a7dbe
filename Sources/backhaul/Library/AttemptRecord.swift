import CBackhaul

/// A copy of the measurements of one attempt (one run) of a task.
struct AttemptRecord {
    let task: UInt64
    let number: UInt32
    let next: Int32
    let started: Int64
    let nextAttempt: Int64
    let error: ErrorRecord
    let url: String
    let httpStatus: Int32
    let redirects: UInt32
    let offset: UInt64
    let endOffset: UInt64
    /// The time at which the lookup of the host name ended, in microseconds since the start of the last request.
    /// Nil if the attempt did not reach this phase, or did not need it. The times up to `responseEnd` have the same
    /// form.
    let domainLookup: Int64?
    let connect: Int64?
    let secureConnection: Int64?
    let requestStart: Int64?
    let requestEnd: Int64?
    let responseStart: Int64?
    let responseEnd: Int64?
    let networkProtocol: String?
    let isReused: Bool
    let isProxied: Bool
    let local: (address: String?, port: UInt16)
    let remote: (address: String?, port: UInt16)
    let tlsVersion: String?
    let tlsCipher: String?
    let requestHeaderBytes: UInt64
    let requestBodyBytes: UInt64
    let responseHeaderBytes: UInt64
    let responseBodyBytes: UInt64

    init(_ attempt: bh_attempt) {
        task = attempt.task_id
        number = attempt.number
        next = attempt.next
        started = attempt.started_ms
        nextAttempt = attempt.next_attempt_ms
        error = ErrorRecord(
            status: attempt.status, domain: attempt.error_domain, detail: attempt.error_detail,
            message: text(attempt.error_message))
        url = text(attempt.url) ?? ""
        httpStatus = attempt.http_status
        redirects = attempt.redirects
        offset = attempt.offset
        endOffset = attempt.end_offset
        domainLookup = AttemptRecord.reached(attempt.domain_lookup_us)
        connect = AttemptRecord.reached(attempt.connect_us)
        secureConnection = AttemptRecord.reached(attempt.secure_connection_us)
        requestStart = AttemptRecord.reached(attempt.request_start_us)
        requestEnd = AttemptRecord.reached(attempt.request_end_us)
        responseStart = AttemptRecord.reached(attempt.response_start_us)
        responseEnd = AttemptRecord.reached(attempt.response_end_us)
        networkProtocol = text(attempt.protocol)
        isReused = attempt.reused_connection
        isProxied = attempt.proxy_connection
        local = (text(attempt.local_address), attempt.local_port)
        remote = (text(attempt.remote_address), attempt.remote_port)
        tlsVersion = text(attempt.tls_version)
        tlsCipher = text(attempt.tls_cipher)
        requestHeaderBytes = attempt.request_header_bytes
        requestBodyBytes = attempt.request_body_bytes
        responseHeaderBytes = attempt.response_header_bytes
        responseBodyBytes = attempt.response_body_bytes
    }

    private static func reached(_ microseconds: Int64) -> Int64? { microseconds < 0 ? nil : microseconds }

    var json: JSON {
        func time(_ microseconds: Int64?) -> JSON { microseconds.map { .integer($0) } ?? .null }
        func port(_ end: (address: String?, port: UInt16)) -> JSON { end.address == nil ? .null : .number(end.port) }
        return .record(of: bh_attempt.self, [
            ("task_id", .number(task)), ("number", .number(number)), ("next", .string(Names.next(next))),
            ("started_ms", .integer(started)), ("next_attempt_ms", .number(unlessZero: nextAttempt)),
            ("status", .status(error.status)), ("error_domain", error.domainJSON),
            ("error_detail", error.detailJSON), ("error_message", .optional(error.sentence)), ("url", .string(url)),
            ("http_status", .number(unlessZero: httpStatus)), ("redirects", .number(redirects)),
            ("offset", .number(offset)), ("end_offset", .number(endOffset)), ("domain_lookup_us", time(domainLookup)),
            ("connect_us", time(connect)), ("secure_connection_us", time(secureConnection)),
            ("request_start_us", time(requestStart)), ("request_end_us", time(requestEnd)),
            ("response_start_us", time(responseStart)), ("response_end_us", time(responseEnd)),
            ("protocol", .optional(networkProtocol)), ("local_address", .optional(local.address)),
            ("remote_address", .optional(remote.address)), ("tls_version", .optional(tlsVersion)),
            ("tls_cipher", .optional(tlsCipher)), ("request_header_bytes", .number(requestHeaderBytes)),
            ("request_body_bytes", .number(requestBodyBytes)), ("response_header_bytes", .number(responseHeaderBytes)),
            ("response_body_bytes", .number(responseBodyBytes)), ("local_port", port(local)),
            ("remote_port", port(remote)), ("reused_connection", .bool(isReused)),
            ("proxy_connection", .bool(isProxied)),
        ])
    }
}
