internal import BackhaulPlatform
internal import CCurl

/// Facts about the connection of a request. They may be read only in libcurl's call-backs, while the request has a
/// connection.
extension EasyHandle {
    /// Whether the TLS handshake selected HTTP/2.
    var speaksHTTP2: Bool {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return false }
        return bhl_tls_is_http2(&functions, session) == 1
    }

    /// Whether the server has sent close_notify. Nil for a connection without TLS, or if libcurl does not use OpenSSL.
    var hasCloseNotify: Bool? {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return nil }
        return bhl_tls_is_closed(&functions, session) == 1
    }
}
