internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// The proxy that a request goes through.
struct ProxyRoute: Hashable {
    /// As libcurl takes it, without user and password: "http://proxy.example.org:3128", "socks5h://[::1]:1080".
    var url: String
    var user: String?
    var password: String?

    /// It is spoken to with TLS.
    var isEncrypted: Bool { url.utf8.starts(with: "https://".utf8) }

    /// Its name in challenges; nil for a SOCKS proxy, which asks in no answer of HTTP.
    var origin: String? { url.utf8.starts(with: "http".utf8) ? url : nil }
}

/// Which proxy a request goes through. Decided here and not by libcurl, whose rules for NO_PROXY changed between its
/// versions, and which does not tell what it chose before version 8.7: a challenge has to name the proxy.
enum ProxyChoice {
    /// Nil: straight to the server. The configuration goes before the environment (libcurl-env(3)).
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
            // HTTP_PROXY in capitals may come from a request to a CGI program, so libcurl does not look at it.
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
        guard let handle = curl_url() else { throw WebAddress.noMemory }
        // Unsafe: curl's URL handle and the strings that it gives live within this call.
        defer { curl_url_cleanup(handle) }
        // As libcurl reads it: http when no scheme is named.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
        let code = curl_url_set(handle, CURLUPART_URL, text, flags)
        guard code != CURLUE_OUT_OF_MEMORY else { throw WebAddress.noMemory }
        guard code == CURLUE_OK, let guessed = try WebAddress.part(handle, CURLUPART_SCHEME),
            let server = try WebAddress.part(handle, CURLUPART_HOST)
        else { return nil }
        // The guess is made from the name, too: "ftp.example.org" would be an FTP proxy.
        let scheme = text.has("://") ? guessed : "http"
        guard schemes.contains(scheme) else { return nil }
        let port = try WebAddress.part(handle, CURLUPART_PORT) ?? (scheme == "https" ? "443" : "1080")
        let decode = UInt32(CURLU_URLDECODE)
        return ProxyRoute(
            url: "\(scheme)://\(server.lowercased()):\(port)",
            user: try WebAddress.part(handle, CURLUPART_USER, decode),
            password: try WebAddress.part(handle, CURLUPART_PASSWORD, decode))
    }
}
