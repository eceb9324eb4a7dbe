internal import BackhaulModel
internal import CCurl

/// The agreed version of TLS, such as "TLSv1.3", and the cipher.
struct TLSAgreement: Equatable {
    var version: String
    var cipher: String
}

extension EasyHandle {
    /// What libcurl measured of the last request. `isConnected`: the request got a connection.
    func metrics(isConnected: Bool) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.reusedConnection = isConnected && number(CURLINFO_NUM_CONNECTS) == 0
        // For a skipped phase, libcurl repeats the time of the phase before it.
        if !metrics.reusedConnection {
            metrics.domainLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connect = time(CURLINFO_CONNECT_TIME_T)
            metrics.secureConnection = time(CURLINFO_APPCONNECT_TIME_T)
        }
        if isConnected {
            metrics.requestStart = time(CURLINFO_PRETRANSFER_TIME_T)
            // A request without a body is sent as a whole. libcurl measures the end of sending only since version 8.10.
            metrics.requestEnd = metrics.requestStart
        }
        metrics.responseStart = time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.responseEnd = metrics.responseStart.flatMap { _ in time(CURLINFO_TOTAL_TIME_T) }
        metrics.networkProtocol = networkProtocol
        metrics.localAddress = text(CURLINFO_LOCAL_IP)
        metrics.localPort = UInt16(clamping: number(CURLINFO_LOCAL_PORT))
        metrics.remoteAddress = text(CURLINFO_PRIMARY_IP)
        metrics.remotePort = UInt16(clamping: number(CURLINFO_PRIMARY_PORT))
        metrics.requestHeaderBytes = UInt64(clamping: number(CURLINFO_REQUEST_SIZE))
        metrics.requestBodyBytes = UInt64(clamping: offset(CURLINFO_SIZE_UPLOAD_T))
        metrics.responseHeaderBytes = UInt64(clamping: number(CURLINFO_HEADER_SIZE))
        metrics.responseBodyBytes = UInt64(clamping: offset(CURLINFO_SIZE_DOWNLOAD_T))
        return metrics
    }

    /// The number of connections that libcurl has made for the request.
    var connectionCount: Int { number(CURLINFO_NUM_CONNECTS) }

    /// The agreed TLS parameters. Valid only in call-backs, while the request has its connection.
    var tlsAgreement: TLSAgreement? {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return nil }
        // Unsafe: OpenSSL's texts are constants, and are copied here.
        var version: UnsafePointer<CChar>?
        var cipher: UnsafePointer<CChar>?
        guard bhl_tls_look(&functions, session, &version, &cipher) == 1, let version, let cipher else { return nil }
        return TLSAgreement(version: String(cString: version), cipher: String(cString: cipher))
    }

    /// The registered name of the protocol (RFC 7301, section 6).
    private var networkProtocol: String? {
        switch number(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "http/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "http/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "h2"
        case Int(CURL_HTTP_VERSION_3): "h3"
        default: nil
        }
    }

    /// A time in microseconds, or nil if the request did not reach this phase.
    private func time(_ info: CURLINFO) -> Int64? {
        let value = offset(info)
        return value > 0 ? value : nil
    }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return bhl_easy_get_offset(handle, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return bhl_easy_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    private func text(_ info: CURLINFO) -> String? {
        // Unsafe: libcurl's text lives until the handle's next request, and is copied here.
        var text: UnsafePointer<CChar>?
        guard bhl_easy_get_string(handle, info, &text) == CURLE_OK, let text, text[0] != 0 else { return nil }
        return String(cString: text)
    }
}
