internal import BackhaulModel
internal import CCurl

/// What curl's result codes mean for a task.
enum CurlFailure {
    /// The status, and whether trying again may help.
    static func meaning(_ code: CURLcode) -> (status: Status, isTransient: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.nameNotResolved, true)
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: (.connectionFailed, true)
        case CURLE_OPERATION_TIMEDOUT: (.requestTimeout, true)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_NO_CONNECTION_AVAILABLE, CURLE_AGAIN:
            (.connectionLost, true)
        // Broken off during the handshake, by either side: the network may be at fault.
        case CURLE_SSL_CONNECT_ERROR: (.tlsFailed, true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CLIENTCERT:
            (.tlsFailed, false)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_RANGE_ERROR:
            (.badResponse, false)
        case CURLE_TOO_MANY_REDIRECTS: (.redirectRefused, false)
        case CURLE_URL_MALFORMAT: (.invalidArgument, false)
        case CURLE_OUT_OF_MEMORY: (.outOfResources, true)
        case CURLE_FILESIZE_EXCEEDED: (.tooLarge, false)
        default: (.badResponse, true)
        }
    }

    static func failure(_ code: CURLcode, _ detail: String, server: String) -> (Failure, isTransient: Bool) {
        let (status, isTransient) = meaning(code)
        let reason = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        let failure = Failure(status, "\(server): \(reason)", domain: .curl, detail: Int64(code.rawValue))
        return (failure, isTransient)
    }
}
