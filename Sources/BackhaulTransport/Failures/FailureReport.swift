internal import BackhaulModel
internal import CCurl

/// Facts about a failed request: libcurl's report, and the settings of the request.
struct FailureReport {
    var code: CURLcode
    /// libcurl's own message, or an empty string.
    var reason = ""
    /// OpenSSL's results for the certificates of the server and of an https proxy (X509_V_…). 0 means valid or not
    /// checked.
    var verifyResult = 0
    var proxyVerifyResult = 0
    /// The status of the proxy's response to CONNECT, or 0.
    var connectStatus: Int32 = 0
    var proxy: String?
    /// The name that messages use for the server or proxy that should have responded. Nil stands for the server.
    var respondent: String?
    /// Whether libcurl closed the request's HTTP/2 connection.
    var hasEndedHTTP2 = false
    /// The number of bytes received since the request began, or nil without a connection.
    var receivedBytes: Int64?
    /// Whether the request uses, or would have used, a tunnel through a proxy.
    var mayBeTunnel = false
    var caFile: String?
    var tls = TLSConfiguration()

    init(_ code: CURLcode, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// Whether the certificate of the server or proxy is not valid yet (X509_V_ERR_CERT_NOT_YET_VALID).
    var isNotYetValid: Bool {
        code == CURLE_PEER_FAILED_VERIFICATION && (verifyResult == 0 ? proxyVerifyResult : verifyResult) == 9
    }

    /// Whether HTTP/2 failed because there was no memory left (NGHTTP2_ERR_NOMEM). libcurl reports such a failure as a
    /// receive error.
    var hasNoMemoryForHTTP2: Bool { code == CURLE_RECV_ERROR && reason.has("returned -901:") }

    /// Whether an HTTP/2 stream has ended with an error that means a broken rule. libcurl reports the same for two
    /// causes: the server has sent RST_STREAM with this error, or nghttp2 has found a malformed response. The numbers
    /// are PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR and COMPRESSION_ERROR (RFC 9113, section
    /// 7).
    var hasStreamError: Bool {
        guard code == CURLE_HTTP2_STREAM || code == CURLE_HTTP2 else { return false }
        // Since version 8.5.0, libcurl reports nghttp2's own text about a malformed response.
        return [1, 3, 5, 6, 9].contains { reason.has("(err \($0))") || reason.has("(error 0x\($0) ") }
            || reason.has("Invalid HTTP header field") || reason.has("Violation in HTTP messaging")
    }

    /// Whether a TLS record was invalid after the handshake. An alert is a valid record.
    var hasInvalidRecord: Bool {
        (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR) && reason.has("SSL routines") && !reason.has("alert")
    }

    /// Whether the server has violated the framing rules of HTTP. For a violation, libcurl reports the same codes as
    /// for a broken connection.
    var isViolation: Bool {
        switch code {
        case CURLE_RECV_ERROR:
            reason.has("in chunked-encoding")
                || reason.has("nghttp2_session_mem_recv() returned") && !hasNoMemoryForHTTP2
        // If an HTTP/2 connection simply ends, libcurl reports PARTIAL_FILE. So if the code is GOT_NOTHING, and
        // libcurl has closed the HTTP/2 connection, the server has sent something wrong.
        case CURLE_GOT_NOTHING: hasEndedHTTP2
        default: false
        }
    }

    /// The name of the proxy if the connection to the proxy failed; otherwise nil.
    var refused: String? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: proxy.map { "the proxy \($0)" }
        default: nil
        }
    }

    /// If the proxy has refused a tunnel, returns the failure, and whether it is transient. libcurl reports a refused
    /// tunnel as a broken connection.
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
    /// Returns the report on the last request.
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
