internal import BackhaulModel
internal import CCurl

/// One curl easy handle, with what must live as long as its options do: the header list and the error text.
final class EasyHandle {
    /// Of one read from a connection: fewer system calls for large files, at the price of memory for each transfer.
    private static let bufferSize = 256 << 10

    let curl: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    init?() {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(curl)
        curl_slist_free_all(headers)
        errorText.deallocate()
    }

    /// The same options for every request. `context` is handed to both functions.
    func prepare(_ context: UnsafeMutableRawPointer, header: bhc_data_function, body: bhc_data_function) {
        curl_easy_reset(curl)
        errorText[0] = 0
        bhc_set_pointer(curl, CURLOPT_ERRORBUFFER, errorText)
        bhc_set_pointer(curl, CURLOPT_PRIVATE, context)
        bhc_set_data_function(curl, CURLOPT_HEADERFUNCTION, header)
        bhc_set_pointer(curl, CURLOPT_HEADERDATA, context)
        bhc_set_data_function(curl, CURLOPT_WRITEFUNCTION, body)
        bhc_set_pointer(curl, CURLOPT_WRITEDATA, context)
        bhc_set_long(curl, CURLOPT_NOSIGNAL, 1)
        bhc_set_long(curl, CURLOPT_NOPROGRESS, 1)
        bhc_set_string(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        bhc_set_long(curl, CURLOPT_FOLLOWLOCATION, 0)
        bhc_set_long(curl, CURLOPT_HTTP09_ALLOWED, 0)
        bhc_set_long(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        bhc_set_long(curl, CURLOPT_PIPEWAIT, 1)
        bhc_set_long(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        bhc_set_long(curl, CURLOPT_BUFFERSIZE, Self.bufferSize)
        bhc_set_long(curl, CURLOPT_TCP_KEEPALIVE, 1)
        bhc_set_string(curl, CURLOPT_USERAGENT, "backhaul")
    }

    func apply(_ request: TransferRequest, url: String, toOwnOrigin: Bool) {
        bhc_set_string(curl, CURLOPT_URL, url)
        bhc_set_long(curl, CURLOPT_CONNECTTIMEOUT_MS, Int(request.requestTimeoutMilliseconds))
        if let file = request.caFile { bhc_set_string(curl, CURLOPT_CAINFO, file) }
        if request.offset > 0 { bhc_set_string(curl, CURLOPT_RANGE, "\(request.offset)-") }
        curl_slist_free_all(headers)
        headers = nil
        if toOwnOrigin {
            for field in request.headers {
                // An empty value needs a semicolon, or curl would remove the header (CURLOPT_HTTPHEADER(3)).
                append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            }
        }
        if request.offset > 0, let ifRange = request.ifRange { append("If-Range: \(ifRange)") }
        bhc_set_pointer(curl, CURLOPT_HTTPHEADER, headers)
    }

    private func append(_ line: String) {
        if let list = curl_slist_append(headers, line) { headers = list }
    }

    var errorDetail: String { String(cString: errorText) }

    var redirectURL: String? { string(CURLINFO_REDIRECT_URL) }

    var effectiveURL: String? { string(CURLINFO_EFFECTIVE_URL) }

    var retryAfterSeconds: Int64? {
        var seconds: curl_off_t = 0
        guard bhc_get_offset(curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK, seconds > 0 else { return nil }
        return Int64(seconds)
    }

    private func string(_ info: CURLINFO) -> String? {
        var text: UnsafePointer<CChar>?
        guard bhc_get_string(curl, info, &text) == CURLE_OK, let text else { return nil }
        return String(cString: text)
    }
}
