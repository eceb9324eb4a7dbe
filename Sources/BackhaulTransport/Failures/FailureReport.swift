internal import BackhaulModel
internal import CCurl

/// What libcurl tells of a request that failed, and what it was set to do.
struct FailureReport {
    var code: CURLcode
    /// libcurl's own words, or an empty string.
    var reason = ""
    /// OpenSSL's result for the certificates of the server and of an https proxy (X509_V_…; 0: fine, or not looked at).
    var verifyResult = 0
    var proxyVerifyResult = 0
    /// Of the proxy's answer to CONNECT, or 0.
    var connectStatus: Int32 = 0
    var proxy: String?
    /// Who was to answer, when that is not the server alone.
    var respondent: String?
    /// libcurl ended the request's connection of HTTP/2.
    var hasEndedHTTP2 = false
    /// Since the request began; nil when it had no connection yet.
    var receivedBytes: Int64?
    /// The request goes through a tunnel, or was to.
    var mayBeTunnel = false
    var caFile: String?
    var tls = TLSConfiguration()

    init(_ code: CURLcode, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// libcurl takes lines of up to 100 KiB (DYN_HTTP_REQUEST, MAX_HTTP_RESP_HEADER_SIZE), and reports a longer one as
    /// a lack of memory. Without a connection only a proxy's response to CONNECT can have one.
    var mayBeLongLine: Bool { receivedBytes.map { $0 >= 100 << 10 } ?? mayBeTunnel }

    /// NGHTTP2_ERR_NOMEM, which libcurl calls an error of receiving.
    var hasNoMemoryForHTTP2: Bool { code == CURLE_RECV_ERROR && reason.has("returned -901:") }

    /// The server broke the rules of HTTP's framing, for which libcurl has the codes of a broken connection, too.
    var isViolation: Bool {
        switch code {
        case CURLE_RECV_ERROR:
            reason.has("in chunked-encoding")
                || reason.has("nghttp2_session_mem_recv() returned") && !hasNoMemoryForHTTP2
        case CURLE_HTTP2_STREAM, CURLE_HTTP2:
            // RFC 9113, section 7: PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR,
            // COMPRESSION_ERROR.
            [1, 3, 5, 6, 9].contains { reason.has("(err \($0))") }
        // The server did send something: a connection that only ends is PARTIAL_FILE there.
        case CURLE_GOT_NOTHING: hasEndedHTTP2
        default: false
        }
    }

    /// Who was not reached, when that is not the server.
    var refused: String? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: proxy.map { "the proxy \($0)" }
        default: nil
        }
    }

    /// libcurl calls it a broken connection.
    func tunnelRefusal(server: String) -> (Failure, Bool)? {
        guard code == CURLE_RECV_ERROR, let proxy, connectStatus != 0, !(200..<300).contains(connectStatus) else {
            return nil
        }
        let failure = Failure(
            .connectionFailed, "the proxy \(proxy) refuses a tunnel to \(server) with status \(connectStatus)",
            domain: .http, detail: Int64(connectStatus))
        return (failure, connectStatus >= 500 || connectStatus == 408 || connectStatus == 429)
    }
}

extension EasyHandle {
    /// On the last request.
    func report(_ code: CURLcode, _ identity: ConnectionIdentity) -> FailureReport {
        var report = FailureReport(code, reason: reason)
        report.verifyResult = number(CURLINFO_SSL_VERIFYRESULT)
        report.proxyVerifyResult = number(CURLINFO_PROXY_SSL_VERIFYRESULT)
        report.connectStatus = Int32(clamping: number(CURLINFO_HTTP_CONNECTCODE))
        report.proxy = identity.proxy?.url
        report.caFile = identity.caFile
        report.tls = identity.tls
        return report
    }
}
