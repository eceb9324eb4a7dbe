internal import CCurl

/// Needed by: all versions of libcurl. Fixed in: none.
///
/// Over HTTP/2, a server may respond and then end the stream before it has read the whole body of the request (RFC
/// 9113, section 8.1). libcurl reports this as a stream error without a reason. After a 2xx response, libcurl continues
/// to send the body, and does not report that the server has ended the stream.
extension Transfer {
    /// Whether the response is complete, although libcurl reports an error.
    func hasEarlyResponse(_ result: CURLcode) -> Bool {
        isHTTP2 && exchange.hasResponse && wasStoppedWithoutReason(result)
    }

    func wasStoppedWithoutReason(_ result: CURLcode) -> Bool {
        guard result == CURLE_HTTP2_STREAM, !isBodySent, let easy = curl?.easy else { return false }
        return easy.reason.isEmpty || easy.reason == String(cString: curl_easy_strerror(result))
    }

    /// Whether a response has arrived before the whole body was sent. The transport reads this property when the
    /// request time-out has passed. If it is true, the transfer is complete.
    var hasStoppedAfterResponse: Bool { exchange.headIsWhole && isHTTP2 && !isBodySent }
}
