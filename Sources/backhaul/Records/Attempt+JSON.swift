import Backhaul

extension Attempt {
    var errorMessage: String? { error?.spoken.message }

    /// When the next attempt starts, as Unix time in milliseconds. Nil if no retry follows.
    var nextAttempt: Int64? { if case .retry(let time) = next { time } else { nil } }

    private var nextWord: String {
        switch next {
        case .end: "end"
        case .retry: "retry"
        case .challenge: "challenge"
        case .stopped: "stopped"
        case .running: "running"
        }
    }

    var json: JSON {
        func time(_ duration: Duration?) -> JSON { .number(duration?.microseconds) }
        func port(_ number: Int, _ address: String?) -> JSON { address == nil ? .null : .number(number) }
        return .record(
            "bh_attempt",
            [
                ("task_id", .id(taskID)), ("number", .number(number)), ("next", .string(nextWord)),
                ("started_ms", .number(startedMilliseconds)), ("next_attempt_ms", .number(nextAttempt)),
                ("status", .status(error)), ("error_domain", .word(unlessNil: error?.domain)),
                ("error_detail", .number(error?.detail)), ("error_message", .optional(errorMessage)),
                ("url", .string(url)), ("http_status", .number(httpStatus)), ("redirects", .number(redirects)),
                ("offset", .number(offset)), ("end_offset", .number(endOffset)),
                ("domain_lookup_us", time(domainLookup)),
                ("connect_us", time(connect)), ("secure_connection_us", time(secureConnection)),
                ("request_start_us", time(requestStart)), ("request_end_us", time(requestEnd)),
                ("response_start_us", time(responseStart)), ("response_end_us", time(responseEnd)),
                ("protocol", .optional(networkProtocol)), ("local_address", .optional(localAddress)),
                ("remote_address", .optional(remoteAddress)), ("tls_version", .optional(tlsVersion)),
                ("tls_cipher", .optional(tlsCipher)), ("request_header_bytes", .number(requestHeaderBytes)),
                ("request_body_bytes", .number(requestBodyBytes)),
                ("response_header_bytes", .number(responseHeaderBytes)),
                ("response_body_bytes", .number(responseBodyBytes)), ("local_port", port(localPort, localAddress)),
                ("remote_port", port(remotePort, remoteAddress)), ("reused_connection", .bool(isReusedConnection)),
                ("proxy_connection", .bool(isProxyConnection)),
            ])
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
