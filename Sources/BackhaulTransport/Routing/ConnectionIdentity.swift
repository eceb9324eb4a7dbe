internal import BackhaulModel

/// The parameters of a connection. Requests share connections only if all parameters are equal. Each identity has its
/// own multi handle, because libcurl is less strict when it chooses a connection for a request. libcurl does not
/// compare the key of a client certificate, or the password for the tunnel of an HTTP proxy. It also uses an HTTP/2
/// connection for an HTTP/1.1 request.
struct ConnectionIdentity: Hashable {
    var caFile: String?
    var certificates: CertificateSet
    var tls: TLSConfiguration
    var httpVersion: HTTPVersion
    var proxy: ProxyRoute?
    /// The header lines that only the proxy gets. They contain the credential that the program gave after the proxy had
    /// demanded one (status 407).
    var proxyLines: [String]
    /// How many connections to the request's origin were abandoned before the request (`AbandonedConnections`).
    /// So the request cannot get one of these connections.
    var abandoned: Int
}

extension ConnectionIdentity {
    var isProxyEncrypted: Bool { proxy?.isEncrypted == true }

    /// Whether TLS with the server runs inside TLS with the proxy.
    func isNested(for origin: Origin) -> Bool { origin.scheme == "https" && isProxyEncrypted }

    /// Whether requests to the origin use HTTP/2 without TLS from the start. Over an HTTP proxy, libcurl uses HTTP/1.1
    /// instead.
    func hasPriorKnowledge(of origin: Origin) -> Bool {
        httpVersion == .http2PriorKnowledge && origin.scheme == "http" && proxy?.origin == nil
    }

    init(
        _ request: TransferRequest, _ version: HTTPVersion, _ route: ProxyRoute?, _ credentials: HopCredentials,
        _ certificates: CertificateSet, abandoned: Int
    ) {
        var proxy = route
        proxy?.user = credentials.proxyUser
        proxy?.password = credentials.proxyPassword
        self.init(
            caFile: request.caFile, certificates: certificates, tls: request.tls,
            httpVersion: credentials.belongsToConnection ? .http1 : version, proxy: proxy,
            proxyLines: route == nil ? [] : credentials.proxyLines, abandoned: abandoned)
    }
}
