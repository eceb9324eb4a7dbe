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
        guard timing.isFirstOnConnection || isHoldingHead, !headIsWhole else { return false }
        wasNotProcessed()
        rewind()
        return true
    }

    /// Records that the server has ignored the field Expect: it has accepted the whole body without an interim response
    /// with status 100 (Continue). If a server refuses the body, even after a second, it has not ignored the field.
    func noteIgnoredExpectation() {
        guard outgoing.hasExpectation, outgoing.sent == outgoing.bodySize, (200..<300).contains(head.status),
            !head.isHTTP2, !head.hasContinue
        else { return }
        transport?.noteIgnoredExpectation(of: origin)
    }

    /// Sets `hasUndrainedBody` if the kernel still has a part of the body when a response over HTTP/1.x has arrived.
    func noteUndrainedBody(_ socket: ConnectionSocket?) {
        guard !head.isHTTP2, outgoing.sent > 0, let unsent = socket?.unsent else { return }
        hasUndrainedBody = unsent > Self.undrainedRecordSize
    }

    /// The size of one TLS record, in bytes. Up to this number of bytes in the send queue may be from TLS itself, and
    /// not from the body.
    private static let undrainedRecordSize: Int32 = 16 << 10

    /// Restarts the request time-out when the server's TCP has acknowledged bytes of the body. The bytes that libcurl
    /// has passed to the kernel may need more time to arrive than the time-out allows.
    func noteDrain(now: Int64) {
        guard outgoing.sent > 0, !headIsWhole, let found = socket?.unsent else { return }
        if found > 0, lastUnsent.map({ found < $0 }) ?? true { lastActivityAt = now }
        lastUnsent = found
    }
}
