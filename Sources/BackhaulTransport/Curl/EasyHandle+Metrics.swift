internal import BackhaulModel
internal import CCurl

/// The version of TLS that was agreed, "TLSv1.3", and the cipher.
struct TLSAgreement: Equatable {
    var version: String
    var cipher: String
}

extension EasyHandle {
    /// What libcurl measured of the last request. `isConnected`: it had a connection that it could be sent over.
    func metrics(isConnected: Bool) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.reusedConnection = isConnected && number(CURLINFO_NUM_CONNECTS) == 0
        // libcurl repeats the time of the one before it where a phase was skipped.
        if !metrics.reusedConnection {
            metrics.domainLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connect = time(CURLINFO_CONNECT_TIME_T)
            metrics.secureConnection = time(CURLINFO_APPCONNECT_TIME_T)
        }
        if isConnected {
            metrics.requestStart = time(CURLINFO_PRETRANSFER_TIME_T)
            // Without a body the request leaves as one; libcurl measures its end from version 8.10 on only.
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

    /// How many connections libcurl has made for the request.
    var connectionCount: Int { number(CURLINFO_NUM_CONNECTS) }

    /// Only in call-backs, while the request has its connection.
    var tlsAgreement: TLSAgreement? {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return nil }
        // Unsafe: OpenSSL's texts are constants; copied at once.
        var version: UnsafePointer<CChar>?
        var cipher: UnsafePointer<CChar>?
        guard bhl_tls_look(&functions, session, &version, &cipher) == 1, let version, let cipher else { return nil }
        return TLSAgreement(version: String(cString: version), cipher: String(cString: cipher))
    }

    /// By its registered name (RFC 7301, section 6).
    private var networkProtocol: String? {
        switch number(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "http/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "http/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "h2"
        case Int(CURL_HTTP_VERSION_3): "h3"
        default: nil
        }
    }

    /// Nil when it was not reached.
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
        // Unsafe: curl's text lives until the handle's next request; it is copied at once.
        var text: UnsafePointer<CChar>?
        guard bhl_easy_get_string(handle, info, &text) == CURLE_OK, let text, text[0] != 0 else { return nil }
        return String(cString: text)
    }
}
