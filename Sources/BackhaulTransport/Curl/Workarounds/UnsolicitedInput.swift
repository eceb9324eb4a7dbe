internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// Needed by: all versions of libcurl. Fixed in: none. Since version 8.0.0, libcurl itself does not reuse a connection
/// on which bytes wait; it still does not check a new connection.
///
/// Bytes that arrive before the request is sent cannot be the response (RFC 9112, section 6.3), but libcurl accepts
/// them as the response. So the transport checks each connection immediately before the request is sent.
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
}

extension ConnectionSocket {
    /// Which input can be received without blocking.
    var input: ConnectionInput {
        var byte: UInt8 = 0
        switch recv(number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) {
        case 1...: return .data
        case 0: return .end
        default: return [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .none : .end
        }
    }
}

/// The input that can be received on a connection.
enum ConnectionInput {
    case none
    /// The start of a TLS record. Its content is not known yet.
    case part
    /// Bytes of a response.
    case data
    /// The server has ended the connection.
    case end
}
