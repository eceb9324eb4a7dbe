internal import BackhaulModel

/// An origin falls back to HTTP/1.1, although it may support HTTP/2, if an HTTP/2 connection has ended before the
/// server marked the end of a response (END_STREAM).
///
/// A fallback ends after an hour (`TemporaryOrigins`). If a request over HTTP/1.1 gets no response, the fallback ends
/// early: the server may support only HTTP/2, or another server may have the address now.
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
