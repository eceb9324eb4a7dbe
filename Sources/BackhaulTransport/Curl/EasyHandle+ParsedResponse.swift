internal import BackhaulModel
internal import CCurl

/// A response as libcurl has parsed it. The transport parses the head itself, and compares the two results.
extension EasyHandle {
    /// Returns whether libcurl has read the head of a final response as the transport has read it. Must be called in
    /// the call-back for the last line of the head.
    func agrees(with head: HeadCollector, _ framing: ResponseFraming) -> Bool {
        guard number(CURLINFO_RESPONSE_CODE) == Int(head.status),
            (number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)) == head.isHTTP2
        else { return false }
        return switch framing {
        case .length(let length):
            contentLength == length || contentLength == nil && (length > Int64.max || head.hasIgnoredLength)
        case .chunked, .untilClose: contentLength == nil
        case .none, .invalid: true
        }
    }

    /// Returns whether libcurl has read the proxy's response to CONNECT as the transport has read it. libcurl accepts
    /// each line as a status line.
    func agrees(withConnectResponse head: HeadCollector) -> Bool {
        number(CURLINFO_HTTP_CONNECTCODE) == Int(head.status)
    }

    /// The schemes for which libcurl has found a challenge of the proxy, as far as the transport uses them.
    var proxyOffer: AuthenticationSchemes {
        let bits = number(CURLINFO_PROXYAUTH_AVAIL)
        var schemes: AuthenticationSchemes = []
        if bits & Int(bhl_basic_authentication) != 0 { schemes.insert(.basic) }
        if bits & Int(bhl_digest_authentication) != 0 { schemes.insert(.digest) }
        return schemes
    }

    /// The number of bytes after which libcurl ends the body; nil if libcurl waits for another mark. libcurl does not
    /// use a length of more than `Int64.max`.
    var contentLength: UInt64? { UInt64(exactly: offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)) }
}
