internal import BackhaulModel
internal import CCurl

/// Checks how much of a request's body was sent, and whether the body may be sent again.
extension Transfer {
    /// Rewinds the body of a request, such as a POST, that must not be repeated after the server has acted on it.
    /// libcurl rewinds the body before it repeats a request. If the server may have acted on the request, this function
    /// returns false and does not rewind the body. In two cases the server has not acted on the request: the server has
    /// refused the stream (REFUSED_STREAM, RFC 9113, section 8.7), or has responded with 401 or 407. This function
    /// returns true if the head of a 401 or 407 response is buffered. It also returns true if the request was the first
    /// on its connection and no response has arrived. libcurl repeats the first request of a connection only if the
    /// server has refused the stream, or has responded with 401 or 407.
    func rewindWhatWasRefused() -> Bool {
        guard exchange.timing.isFirstOnConnection || exchange.isHoldingHead, !exchange.headIsWhole else { return false }
        wasNotProcessed()
        rewind()
        return true
    }

    /// Sets `hasUndrainedBody` if the kernel still has a part of the body when a response over HTTP/1.x has arrived.
    func noteUndrainedBody(_ socket: ConnectionSocket?) {
        guard !isHTTP2, outgoing.sent > 0, let unsent = socket?.unsent else { return }
        exchange.hasUndrainedBody = unsent > Self.undrainedRecordSize
    }

    /// Whether the server's TCP has acknowledged the whole body of the request, and no response has arrived.
    var isUnanswered: Bool {
        outgoing.sent > 0 && outgoing.isComplete && !exchange.headIsWhole && curl?.lastUnsent ?? 0 == 0
    }

    /// The size of one TLS record, in bytes. Up to this number of bytes in the send queue may be from TLS itself, and
    /// not from the body.
    private static let undrainedRecordSize: Int32 = 16 << 10
}
