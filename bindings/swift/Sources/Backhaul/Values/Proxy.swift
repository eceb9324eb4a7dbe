internal import CBackhaul

/// The proxy through which the engine connects to servers.
public struct Proxy: Hashable, Sendable {
    /// The proxy's URL, without user and password.
    ///
    /// It begins with "http://", "https://", "socks5://" or "socks5h://". With "socks5h://", the proxy resolves host
    /// names. "none" means no proxy. Nil: the variables http_proxy, https_proxy, all_proxy and no_proxy of the engine's
    /// environment apply.
    public var url: String?
    /// The user name. It is sent with `password`, by Basic, Digest or SOCKS.
    public var user: String?
    /// The password of the user.
    public var password: String?
    /// The host names and addresses to which the engine connects without the proxy, separated by commas
    /// (CURLOPT_NOPROXY).
    public var bypass: String?

    /// Makes the settings of a proxy. Without arguments, the variables of the engine's environment apply.
    public init(url: String? = nil, user: String? = nil, password: String? = nil, bypass: String? = nil) {
        self.url = url
        self.user = user
        self.password = password
        self.bypass = bypass
    }

    // Unsafe: the pointers point into a batch, which is released after its items are copied.
    init(_ value: bh_proxy_settings) {
        self.init(
            url: text(value.url), user: text(value.user), password: text(value.password), bypass: text(value.bypass))
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_proxy_settings {
        var value = bh_proxy_settings()
        value.url = try arena.optionalString(url, "the proxy's url")
        value.user = try arena.optionalString(user, "the proxy's user")
        value.password = try arena.optionalString(password, "the proxy's password")
        value.bypass = try arena.optionalString(bypass, "the proxy's bypass")
        return value
    }
}
