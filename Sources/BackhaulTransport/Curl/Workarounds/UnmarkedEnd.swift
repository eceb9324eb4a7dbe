internal import BackhaulModel

/// Needed by: libcurl before 8.1.0. Fixed in: 8.1.0 (commit 744dcf22fa).
///
/// After a violation of HTTP/2, libcurl treats the end of the connection as the end of each body without a length
/// (lib/http2.c, h2_process_pending_input). So such a body is accepted only if its connection stays open. Otherwise the
/// next requests to the origin use HTTP/1.1.
extension Transfer {
    /// Whether a body without a length ended with its HTTP/2 connection, before the server marked the end of the body
    /// (END_STREAM). When a stream ends properly, the connection stays open.
    var hasUnmarkedEnd: Bool {
        guard Workaround.unmarkedEnd.isActive, case .endsWithStream = exchange.bodyEnd else { return false }
        return exchange.headIsWhole && curl?.socket?.isClosed == true
    }
}

/// An origin falls back to HTTP/1.1 after an unmarked end. A fallback ends after an hour (`TemporaryOrigins`). If a
/// request over HTTP/1.1 gets no response, the fallback ends early: the server may support only HTTP/2, or another
/// server may have the address now.
enum HTTP1Fallback {
    /// Translates the failure of a request that was sent over HTTP/1.1 because of a fallback, and that got no response.
    /// The server has not chosen HTTP/1.1, and perhaps does not support it. So an invalid response or a TLS failure is
    /// reported as a lost connection. The next request uses HTTP/2.
    static func failure(_ failure: Failure, of origin: Origin) -> Failure {
        guard [.badResponse, .tlsFailed].contains(failure.status) else { return failure }
        return Failure(
            .connectionLost,
            "\(origin.text) gave no response over HTTP/1.1, and the next request goes over HTTP/2: \(failure.message)",
            domain: failure.domain, detail: failure.detail)
    }
}
