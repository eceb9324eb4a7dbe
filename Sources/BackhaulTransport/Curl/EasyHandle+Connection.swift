internal import BackhaulPlatform
internal import CCurl

/// What is known of the connection of a request. Only in call-backs, while the request has one.
extension EasyHandle {
    /// What was received before the request is sent. `isEncrypted`: with the server or its proxy. `isNested`: TLS
    /// inside the TLS of a proxy, which cannot be looked into: there any byte counts as one of a response.
    func pendingInput(on socket: ConnectionSocket, isEncrypted: Bool, isNested: Bool) -> ConnectionInput {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else {
            // Another TLS library than OpenSSL tells nothing.
            let found = socket.input
            return isEncrypted && found == .data ? .part : found
        }
        if bhl_tls_is_http2(&functions, session) == 1 { return .none }
        if functions.pending(session) > 0 { return .data }
        let waiting = socket.input
        guard waiting == .data || functions.has_pending(session) == 1 else { return waiting }
        if isNested { return .data }
        // Unsafe: the session lives as long as the connection; it is used no longer than this call.
        return switch Int(bhl_tls_input(&functions, session, socket.descriptor.number)) {
        case Int(bhl_input_none): .none
        case Int(bhl_input_part): .part
        case Int(bhl_input_end): .end
        default: .data
        }
    }

    /// HTTP/2 was agreed in the handshake.
    var speaksHTTP2: Bool {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return false }
        return bhl_tls_is_http2(&functions, session) == 1
    }

    /// Nil without TLS, and with another library than OpenSSL.
    var hasTLSEnd: Bool? {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return nil }
        return bhl_tls_is_closed(&functions, session) == 1
    }
}
