internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// The proxy of a request.
struct ProxyRoute: Hashable {
    /// The URL for libcurl, without user and password, such as "http://proxy.example.org:3128" or
    /// "socks5h://[::1]:1080".
    var url: String
    var user: String?
    var password: String?

    /// Whether the connection to the proxy uses TLS.
    var isEncrypted: Bool { url.utf8.starts(with: "https://".utf8) }

    /// The proxy's origin in challenges (demands of a server or proxy for a credential). Nil for a SOCKS proxy, which
    /// sends no HTTP responses.
    var origin: String? { url.utf8.starts(with: "http".utf8) ? url : nil }
}

/// Chooses the proxy of a request. This type chooses the proxy in place of libcurl, for two reasons. First, the rules
/// for NO_PROXY differ between versions of libcurl. Second, before version 8.7, libcurl does not report whether it has
/// used a proxy. The engine, which runs the transfers, must know the proxy, because a challenge names the proxy.
enum ProxySelector {
    /// Returns the proxy, or nil if the request needs none. The configuration has priority over the environment
    /// (libcurl-env(3)).
    static func route(
        to origin: Origin, _ configuration: ProxyConfiguration,
        variable: (String) -> String? = Environment.variable
    ) throws(Failure) -> ProxyRoute? {
        if configuration.url == "none" { return nil }
        let exceptions: String?
        let named: (name: String, text: String)
        if let url = configuration.url {
            named = ("the session's configuration", url)
            exceptions = configuration.exceptions
        } else {
            // HTTP_PROXY in capitals is ignored, as in libcurl: in a CGI program, an HTTP client can set this variable
            // with a header field.
            let names = origin.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
            guard let found = first(names + ["all_proxy", "ALL_PROXY"], variable) else { return nil }
            named = found
            exceptions = configuration.exceptions ?? first(["no_proxy", "NO_PROXY"], variable)?.text
        }
        if let exceptions, ProxyExceptions(exceptions).contains(origin.server) { return nil }
        guard var route = try read(named.text) else {
            throw Failure(
                .connectionFailed, "the proxy in \(named.name) is no URL of a proxy; write http://proxy.example:3128")
        }
        if let user = configuration.user { (route.user, route.password) = (user, configuration.password) }
        return route
    }

    private static func first(
        _ names: [String], _ variable: (String) -> String?
    ) -> (name: String, text: String)? {
        for name in names { if let text = variable(name), !text.isEmpty { return (name, text) } }
        return nil
    }

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    private static func read(_ text: String) throws(Failure) -> ProxyRoute? {
        guard let handle = curl_url() else { throw URLParser.noMemory }
        // Unsafe: libcurl's URL handle and its strings are used only within this call.
        defer { curl_url_cleanup(handle) }
        // A text without a scheme is accepted, as in libcurl.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
        let code = curl_url_set(handle, CURLUPART_URL, text, flags)
        guard code != CURLUE_OUT_OF_MEMORY else { throw URLParser.noMemory }
        guard code == CURLUE_OK, let guessed = try URLParser.part(handle, CURLUPART_SCHEME),
            let server = try URLParser.part(handle, CURLUPART_HOST)
        else { return nil }
        // Without a scheme, the proxy is an HTTP proxy. libcurl would guess the scheme from the name, and read
        // "ftp.example.org" as an FTP proxy.
        let scheme = text.has("://") ? guessed : "http"
        guard schemes.contains(scheme) else { return nil }
        let port = try URLParser.part(handle, CURLUPART_PORT) ?? (scheme == "https" ? "443" : "1080")
        let decode = UInt32(CURLU_URLDECODE)
        return ProxyRoute(
            url: "\(scheme)://\(server.lowercased()):\(port)",
            user: try URLParser.part(handle, CURLUPART_USER, decode),
            password: try URLParser.part(handle, CURLUPART_PASSWORD, decode))
    }
}
