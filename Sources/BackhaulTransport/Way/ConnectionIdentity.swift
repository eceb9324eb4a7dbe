internal import BackhaulModel

/// What a connection was made with. Requests share connections only where all of it is the same: libcurl compares
/// less when it looks for one (neither the key of a client certificate nor the password for an HTTP proxy's tunnel, and
/// a request for HTTP/1.1 is given one of HTTP/2), so each identity has a multi handle of its own.
struct ConnectionIdentity: Hashable {
    var caFile: String?
    var certificates: CertificateSet
    var tls: TLSConfiguration
    var httpVersion: HTTPVersion
    var proxy: ProxyRoute?
    /// Fields that the proxy is sent, from the answer to its challenge.
    var proxyLines: [String]
}

extension ConnectionIdentity {
    var isProxyEncrypted: Bool { proxy?.isEncrypted == true }

    /// TLS with the server runs inside of TLS with the proxy.
    func isNested(for origin: Origin) -> Bool { origin.scheme == "https" && isProxyEncrypted }

    init(
        _ request: TransferRequest, _ version: HTTPVersion, _ route: ProxyRoute?, _ credentials: HopCredentials,
        _ certificates: CertificateSet
    ) {
        var proxy = route
        proxy?.user = credentials.proxyUser
        proxy?.password = credentials.proxyPassword
        self.init(
            caFile: request.caFile, certificates: certificates, tls: request.tls,
            httpVersion: credentials.belongsToConnection ? .http1 : version, proxy: proxy,
            proxyLines: route == nil ? [] : credentials.proxyLines)
    }
}
