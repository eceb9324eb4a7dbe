internal import BackhaulModel
internal import CCurl

extension EasyHandle {
    /// What libcurl measured of the last request.
    var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = address
        metrics.domainLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = time(CURLINFO_CONNECT_TIME_T)
        metrics.secureConnection = time(CURLINFO_APPCONNECT_TIME_T)
        metrics.responseStart = time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.responseEnd = time(CURLINFO_TOTAL_TIME_T)
        metrics.reusedConnection = number(CURLINFO_NUM_CONNECTS) == 0
        return metrics
    }

    /// Nil when it was not reached.
    private func time(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = 0
        return bhl_easy_get_offset(handle, info, &value) == CURLE_OK && value > 0 ? Int64(value) : nil
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        return bhl_easy_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    private var address: String? {
        // Unsafe: curl's text lives until the handle's next request; it is copied at once.
        var text: UnsafePointer<CChar>?
        guard bhl_easy_get_string(handle, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text, text[0] != 0 else {
            return nil
        }
        return String(cString: text)
    }
}
