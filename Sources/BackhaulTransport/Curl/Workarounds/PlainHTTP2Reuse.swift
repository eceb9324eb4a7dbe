internal import BackhaulModel

/// Needed by: libcurl before 8.0.0. Fixed in: 8.0.0 (https://github.com/curl/curl/issues/10634).
///
/// On a connection that uses HTTP/2 without TLS from the start, only the first request works. So each of these requests
/// gets a new connection.
extension HTTPVersion {
    /// Whether several requests can use one HTTP/2 connection at the same time.
    func sharesConnections(isEncrypted: Bool) -> Bool {
        if isEncrypted { return self != .http1 }
        return self == .http2PriorKnowledge && !Workaround.plainHTTP2Reuse.isActive
    }
}
