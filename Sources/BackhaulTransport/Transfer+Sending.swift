internal import BackhaulModel
internal import CCurl

extension Transfer {
    /// For a request that may not be sent twice. Where libcurl has not used a connection again it repeats only what the
    /// server has refused (REFUSED_STREAM, RFC 9113, section 8.7) or asks for with a 401 or 407.
    func rewindWhatWasRefused() -> Bool {
        guard timing.isFirstOnConnection || isHoldingHead, !headIsWhole else { return false }
        wasNotProcessed()
        rewind()
        return true
    }

    /// The server has answered over HTTP/2 before it was sent the body, and wants no more of it (RFC 9113, section
    /// 8.1). libcurl takes the end of the stream for an error of sending, and has no words for it.
    func hasEarlyResponse(_ result: CURLcode) -> Bool { isHTTP2 && hasResponse && endedWithoutReason(result) }

    /// The same, but libcurl 7.88.1 has dropped the response unread: it came in one piece with the end of the stream
    /// (lib/http2.c, cf_h2_recv, "stream->reset").
    func hasLostEarlyResponse(_ result: CURLcode) -> Bool {
        !hasResponse && !needsHTTP1 && request.httpVersion != .http2PriorKnowledge && endedWithoutReason(result)
    }

    private func endedWithoutReason(_ result: CURLcode) -> Bool {
        guard result == CURLE_HTTP2_STREAM, !isBodySent, let easy else { return false }
        return easy.reason.isEmpty || easy.reason == String(cString: curl_easy_strerror(result))
    }

    /// The server has answered over HTTP/2 and takes no more of the body. libcurl 7.88.1 does not show whether the
    /// stream has ended meanwhile, and after a response of success goes on trying to send.
    var hasStoppedAfterResponse: Bool { headIsWhole && isHTTP2 && !isBodySent }

    /// Looks whether the server has answered over HTTP/1.x while the kernel still has a part of the body.
    func noteUntakenBody(_ socket: ConnectionSocket?) {
        guard !head.isHTTP2, sending.sent > 0, let unsent = socket?.unsent else { return }
        leftUntaken = unsent > Self.untakenRecord
    }

    /// Less may be what TLS has sent by itself.
    private static let untakenRecord: Int32 = 16 << 10

    /// A body that libcurl has handed to the kernel may be on its way for longer than the request time-out: each byte
    /// that the server takes restarts it.
    func noteLeavingBytes(now: Int64) {
        guard sending.sent > 0, !headIsWhole, let found = socket?.unsent else { return }
        if found > 0, lastUnsent.map({ found < $0 }) ?? true { lastHeardAt = now }
        lastUnsent = found
    }
}
