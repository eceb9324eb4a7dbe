internal import BackhaulModel

/// Determines the credentials, header lines, proxy and connection of a hop. A *hop* is one HTTP request of a transfer;
/// a redirect, for example, needs a further hop.
extension Transfer {
    /// Returns the proxy of this hop, and the credentials for the server and the proxy. Also records which credentials
    /// the hop sends.
    func resolveRoute() throws(Failure) -> (ProxyRoute?, HopCredentials) {
        let route = try ProxySelector.route(to: origin, request.proxy)
        proxy = route?.origin
        let server = request.credentials?.credential(server: origin.text, url: url)
        let proxyCredential = proxy.flatMap { request.credentials?.credential(proxy: $0) }
        (serverCredentialNumber, proxyCredentialNumber) = (server?.number, proxyCredential?.number)
        for credential in [server, proxyCredential] { if let credential { secrets.add(credential.response) } }
        if let user = route?.user { secrets.add(.credential(user: user, password: route?.password ?? "")) }
        authExchange.credentials = HopCredentials(server: server, proxy: proxyCredential, through: route)
        authExchange.credentials.restrictProxyScheme(to: proxyOffer)
        if let negotiateTokens = authExchange.negotiateTokens { authExchange.credentials.present(negotiateTokens) }
        return (route, authExchange.credentials)
    }

    /// Whether other requests to the origin can share the connection of the response.
    var isMultiplexed: Bool {
        head.isHTTP2 && HTTPVersion.http2PriorKnowledge.sharesConnections(isEncrypted: origin.scheme == "https")
    }

    /// The name that messages use for the server or proxy that should send the next response.
    var respondent: String {
        guard timing.isProxied, origin.scheme == "https", !authExchange.isRequestSent, let proxy = stack?.identity.proxy
        else { return origin.text }
        let isReached = authExchange.hasTunnel || proxy.origin == nil
        return isReached ? "\(origin.text), through the proxy \(proxy.url)," : "the proxy \(proxy.url)"
    }

    /// The message for a transfer that ends because no byte was sent or received during its request time-out.
    var timeoutMessage: String {
        let limit = request.requestTimeoutMilliseconds
        if let pendingCertificateFile {
            return "\(pendingCertificateFile) cannot be read: its file system has not responded for \(limit) ms"
        }
        guard timing.isConnected else {
            return "no connection to \(respondent) could be made within \(limit) ms; try again later"
        }
        return "\(respondent) sent nothing for \(limit) ms; try again later"
    }

    /// Whether libcurl has made another connection since the request was sent.
    var hasNewConnection: Bool { timing.isBehind(connections: easy?.connectionCount ?? 0) }

    /// Whether the connection may use HTTP/2. True if this is unknown, because libcurl does not use OpenSSL.
    var maySpeakHTTP2: Bool { isOverHTTP2 || CurlLibrary.openSSL == nil }

    /// Records what the head of a response shows about the server.
    func noteHead() {
        noteAccepted(head.status)
        noteIgnoredExpectation()
    }

    /// Records which credentials the response accepts. A response over https is always from the server, because a proxy
    /// only forwards the bytes of the tunnel.
    private func noteAccepted(_ status: Int32) {
        let isTunnelled = origin.scheme == "https"
        if status != 401, status != 407, let serverCredentialNumber {
            acceptedCredentials.append(serverCredentialNumber)
        }
        if status != 407 || isTunnelled, let proxyCredentialNumber { acceptedCredentials.append(proxyCredentialNumber) }
        if isTunnelled { proxy = nil }
    }

    /// Returns the header lines for libcurl's list. These are the fields of the credential, and the fields that the
    /// transport adds. If no redirect has left the request's origin, the lines also contain the request's own fields.
    func headerLines(with credentials: HopCredentials) -> [String] {
        var headers = credentials.merged(into: keepsHeaders ? request.headers : [])
        if jar != nil { headers = headers.filter { $0.name.lowercased() != "cookie" } }
        if request.method != outgoing.method {
            headers = headers.filter { !OutgoingRequest.bodyFields.contains($0.name.lowercased()) }
        }
        // An empty field is written as "Name;". "Name:" would remove one of libcurl's own fields.
        var lines = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let isIgnored = transport?.ignoresExpect(origin) ?? false
        if let line = outgoing.expectationLine(isIgnored: isIgnored) { lines.append(line) }
        if let condition = request.condition {
            if let tag = condition.entityTag { lines.append("If-None-Match: \(tag)") }
            if let modified = condition.lastModified { lines.append("If-Modified-Since: \(modified)") }
        }
        if request.offset > 0 {
            lines.append("Range: bytes=\(request.offset)-")
            if let validator = request.ifRange { lines.append("If-Range: \(validator)") }
        }
        return lines
    }

    /// The values of the request's own Cookie fields; nil if the transfer has no cookie jar. These values and the jar's
    /// cookies are sent in one field.
    var ownCookies: String? {
        guard jar != nil, keepsHeaders else { return nil }
        let values = request.headers.filter { $0.name.lowercased() == "cookie" && !$0.value.isEmpty }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: "; ")
    }
}
