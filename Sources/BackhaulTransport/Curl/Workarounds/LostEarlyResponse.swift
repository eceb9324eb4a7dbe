internal import BackhaulModel
internal import CCurl

/// Needed by: libcurl before 8.1.0. Fixed in: 8.1.0 (commit 744dcf22fa).
///
/// Over HTTP/2, a server may respond and end the stream before it has read the whole body of the request. If the end of
/// the stream arrives together with the response, libcurl drops the response (lib/http2.c, cf_h2_recv,
/// "stream->reset"). The request is then sent again over HTTP/1.1.
extension Transfer {
    func hasLostEarlyResponse(_ result: CURLcode) -> Bool {
        Workaround.lostEarlyResponse.isActive && !exchange.hasResponse && !target.needsHTTP1
            && request.httpVersion != .http2PriorKnowledge && wasStoppedWithoutReason(result)
    }
}
