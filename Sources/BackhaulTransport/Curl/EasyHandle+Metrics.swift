internal import BackhaulModel
internal import CCurl

/// The version of TLS that a connection uses, such as "TLSv1.3", and its cipher.
struct NegotiatedTLS: Equatable {
    var version: String
    var cipher: String
}

extension EasyHandle {
    /// Returns what libcurl has measured during the last request. `isConnected` is true if the request got a
    /// connection.
    func metrics(isConnected: Bool) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.reusedConnection = isConnected && number(CURLINFO_NUM_CONNECTS) == 0
        // A reused connection needs no lookup, no connect and no TLS handshake. For these phases, libcurl then reports
        // the time of an earlier phase.
        if !metrics.reusedConnection {
            metrics.domainLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connect = time(CURLINFO_CONNECT_TIME_T)
            metrics.secureConnection = time(CURLINFO_APPCONNECT_TIME_T)
        }
        if isConnected {
            metrics.requestStart = time(CURLINFO_PRETRANSFER_TIME_T)
            // For a request without a body, the start also counts as the end. For a request with a body, libcurl
            // measures the end only since version 8.10.
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

    /// The TLS version and cipher of the connection. It may be read only in call-backs, while the request has its
    /// connection.
    var negotiatedTLS: NegotiatedTLS? {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return nil }
        // Unsafe: OpenSSL's texts are constants, and are copied.
        var version: UnsafePointer<CChar>?
        var cipher: UnsafePointer<CChar>?
        guard bhl_tls_describe(&functions, session, &version, &cipher) == 1, let version, let cipher else { return nil }
        return NegotiatedTLS(version: String(cString: version), cipher: String(cString: cipher))
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

    /// Returns a time in microseconds, or nil if the request did not reach this phase.
    private func time(_ info: CURLINFO) -> Int64? {
        let value = offset(info)
        return value > 0 ? value : nil
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return bhl_easy_get_offset(handle, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return bhl_easy_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    private func text(_ info: CURLINFO) -> String? {
        // Unsafe: libcurl's text lives until the handle's next request, and is copied.
        var text: UnsafePointer<CChar>?
        guard bhl_easy_get_string(handle, info, &text) == CURLE_OK, let text, text[0] != 0 else { return nil }
        return String(cString: text)
    }
}
