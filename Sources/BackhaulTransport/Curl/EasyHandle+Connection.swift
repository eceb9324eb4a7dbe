internal import BackhaulPlatform
internal import CCurl

/// Facts about the connection of a request. They may be read only in libcurl's call-backs, while the request has a
/// connection.
extension EasyHandle {
    /// Returns what has arrived on the connection before the request is sent: nothing, a part of a TLS record, bytes of
    /// a response, or the end of the connection. `isEncrypted` is true if the server or its proxy uses TLS. `isNested`
    /// is true if TLS runs inside the TLS of a proxy. This function cannot examine the inner TLS, so all bytes of the
    /// inner TLS count as bytes of a response (`ConnectionInput.data`).
    func pendingInput(on socket: ConnectionSocket, isEncrypted: Bool, isNested: Bool) -> ConnectionInput {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else {
            // The connection has no TLS, or its TLS library is not OpenSSL. The records of other libraries cannot be
            // examined.
            let found = socket.input
            return isEncrypted && found == .data ? .part : found
        }
        if bhl_tls_is_http2(&functions, session) == 1 { return .none }
        if functions.pending(session) > 0 { return .data }
        let waiting = socket.input
        guard waiting == .data || functions.has_pending(session) == 1 else { return waiting }
        if isNested { return .data }
        // Unsafe: the session lives as long as the connection, and is used only in this call.
        return switch Int(bhl_tls_input(&functions, session, socket.number)) {
        case Int(bhl_input_none): .none
        case Int(bhl_input_partial): .part
        case Int(bhl_input_end): .end
        default: .data
        }
    }

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
