internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// Which HTTP proxy libcurl takes from the environment, to name it in a challenge (libcurl-env(3)). libcurl chooses by
/// itself, and looks at NO_PROXY; it does not tell what it chose before version 8.7.
enum ProxyVariables {
    /// "http://proxy.example.org:3128", nil without one. SOCKS proxies ask in no answer of HTTP.
    static func origin(scheme: String, variable: (String) -> String? = Environment.variable) -> String? {
        // HTTP_PROXY in capitals may come from a request to a CGI program, so libcurl does not look at it.
        let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let text = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap(variable).first { !$0.isEmpty }
        guard let text, let handle = curl_url() else { return nil }
        // Unsafe: curl's URL handle and the strings that it gives live within this call.
        defer { curl_url_cleanup(handle) }
        // As libcurl reads it: http when no scheme is named.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        guard let scheme = part(handle, CURLUPART_SCHEME), scheme == "http" || scheme == "https",
            let server = part(handle, CURLUPART_HOST)
        else { return nil }
        let port = part(handle, CURLUPART_PORT) ?? (scheme == "https" ? "443" : "1080")
        return "\(scheme)://\(server.lowercased()):\(port)"
    }

    /// Whether a connection to this address can be one to the proxy. libcurl evaluates NO_PROXY by rules that changed
    /// between its versions, so its doing is looked at, not the variable. A proxy that is named by a host name and has
    /// the port of an excluded server is taken for the peer.
    static func isPeer(_ proxy: String, address: String, port: Int) -> Bool {
        guard let colon = proxy.utf8.lastIndex(of: 0x3A), let proxyPort = Int(proxy[colon...].dropFirst()),
            let slash = proxy[..<colon].utf8.lastIndex(of: 0x2F)
        else { return true }
        guard port == proxyPort else { return false }
        let server = proxy[..<colon][slash...].dropFirst()
        return !(isIPv4(server.utf8) && isIPv4(address.utf8)) || server.utf8.elementsEqual(address.utf8)
    }

    private static func isIPv4(_ text: some Collection<UInt8>) -> Bool {
        text.count { $0 == 0x2E } == 3 && text.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart) -> String? {
        // Unsafe: as above; copied before it is freed.
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
