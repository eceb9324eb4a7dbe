internal import BackhaulModel
internal import BackhaulPlatform

/// Determines the credentials, header lines, proxy and connection of a hop. A *hop* is one HTTP request of a transfer;
/// a redirect, for example, needs a further hop.
extension Transfer {
    /// Returns the proxy of this hop, and the credentials for the server and the proxy. Also records which credentials
    /// the hop sends.
    func resolveRoute() throws(Failure) -> (ProxyRoute?, HopCredentials) {
        let route = try ProxySelector.route(to: origin, request.proxy)
        if route != nil, request.refusesPrivateAddresses, NetworkAddress.isPrivate(server: origin.server) {
            throw TransferFailure.refused(origin.server, of: origin.text)
        }
        exchange.proxy = route?.origin
        // A request of S3 is signed.
        let server = request.s3 == nil ? request.credentials?.credential(server: origin.text, url: target.url) : nil
        let proxy = route?.origin.flatMap { request.credentials?.credential(proxy: $0) }
        for credential in [server, proxy] { if let credential { secrets.add(credential.response) } }
        if let user = route?.user { secrets.add(.credential(user: user, password: route?.password ?? "")) }
        var used = HopCredentials(server: server, proxy: proxy, through: route)
        let isWhole = !used.withhold(protectedNames)
        // A response does not show whether the server accepts a credential of which only a part was sent.
        (credentials.server, credentials.proxy) = (isWhole ? server?.number : nil, proxy?.number)
        used.restrictProxyScheme(to: target.proxyOffer)
        if let tokens = exchange.authentication.negotiateTokens { used.present(tokens) }
        exchange.authentication.credentials = used
        return (route, used)
    }

    /// The names of the refreshed headers that this hop sends, in lower case. A response to a refresh must have an
    /// effect, so a credential replaces none of these headers.
    private var protectedNames: Set<String> {
        guard target.keepsHeaders, !request.refreshedNames.isEmpty else { return [] }
        return request.refreshedNames.intersection(request.headers.map { $0.name.lowercased() })
    }

    func use(_ tokens: NegotiateTokens) { exchange.authentication.negotiateTokens = tokens }

    /// Returns when the present request first needed a file of certificates.
    func certificatesNeeded(at now: Int64) -> Int64 {
        let time = exchange.certificatesNeededAt ?? now
        exchange.certificatesNeededAt = time
        return time
    }

    /// Records that the request waits until the file was read; nil after the read.
    func waits(for file: CertificateFile?) { exchange.state = .preparing(reads: file) }

    /// Whether other requests to the origin can share the connection of the response.
    var isMultiplexed: Bool {
        isHTTP2 && HTTPVersion.http2PriorKnowledge.sharesConnections(isEncrypted: origin.scheme == "https")
    }

    /// The name that messages use for the server or proxy that should send the next response.
    var respondent: String {
        let authentication = exchange.authentication
        guard exchange.timing.isProxied, origin.scheme == "https", !authentication.isRequestSent,
            let proxy = curl?.stack.identity.proxy
        else { return origin.text }
        let isReached = authentication.hasTunnel || proxy.origin == nil
        return isReached ? "\(origin.text), through the proxy \(proxy.url)," : "the proxy \(proxy.url)"
    }

    /// The message for a transfer that ends because no byte was sent or received during its request time-out.
    var timeoutMessage: String {
        let limit = request.requestTimeoutMilliseconds
        if case .preparing(let file?) = exchange.state {
            return "\(file) cannot be read: its file system has not responded for \(limit) ms"
        }
        guard exchange.timing.isConnected else {
            return "no connection to \(respondent) could be made within \(limit) ms; try again later"
        }
        if isUnanswered {
            return "\(respondent) has the whole body, but sent no response for \(limit) ms; if it needs more time, "
                + "raise request_timeout_ms"
        }
        return "\(respondent) sent nothing for \(limit) ms; try again later"
    }

    /// Whether the connection may use HTTP/2. True if this is unknown, because libcurl does not use OpenSSL.
    var maySpeakHTTP2: Bool { exchange.isOverHTTP2 || CurlLibrary.openSSL == nil }

    /// Records what the head of a response shows about the server.
    func noteHead() {
        let isTunnelled = origin.scheme == "https"
        credentials.noteAccepted(by: exchange.head.status, isTunnelled: isTunnelled)
        if isTunnelled { exchange.proxy = nil }
        if outgoing.wasExpectationIgnored(exchange.head) { transport?.noteIgnoredExpectation(of: origin) }
    }

    /// The fields of the credential, and the fields of the protocol. If no redirect has left the request's origin, also
    /// the request's own fields.
    private func fields(with credentials: HopCredentials) -> [HeaderField] {
        credentials.merged(into: (target.keepsHeaders ? request.headers : []).replacing(request.protocolHeaders))
    }

    /// Returns the header lines for libcurl's list: the fields of the hop, and the fields that the transport adds.
    func headerLines(with credentials: HopCredentials) throws(Failure) -> [String] {
        var headers = fields(with: credentials)
        if jar != nil { headers = headers.filter { $0.name.lowercased() != "cookie" } }
        if request.s3 != nil { headers = headers.filter { $0.name.lowercased() != "authorization" } }
        if request.method != outgoing.method {
            headers = headers.filter { !$0.describesBody }
        }
        // An empty field is written as "Name;". "Name:" would remove one of libcurl's own fields.
        var lines = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        lines += try signatureLines(headers)
        let isIgnored = transport?.ignoresExpect(origin) ?? false
        if let line = outgoing.expectationLine(isIgnored: isIgnored) { lines.append(line) }
        if let condition = request.condition {
            if let tag = condition.entityTag { lines.append("If-None-Match: \(tag)") }
            if let modified = condition.lastModified { lines.append("If-Modified-Since: \(modified)") }
        }
        if request.bypassesCaches, !headers.contains(where: { $0.name.lowercased() == "cache-control" }) {
            // Pragma is for caches of HTTP/1.0.
            lines += ["Cache-Control: no-cache", "Pragma: no-cache"]
        }
        if let range = request.range {
            lines.append("Range: bytes=\(range.first)-\(range.last.map(String.init) ?? "")")
            if let validator = request.ifRange { lines.append("If-Range: \(validator)") }
        }
        return lines
    }

    /// Whether the response sets a cookie, and there is no jar for it.
    var dropsCookies: Bool { jar == nil && exchange.head.fields.contains { $0.isNamed("Set-Cookie") } }

    /// The values of the Cookie fields of the request and its credential; nil if the transfer has no cookie jar. These
    /// values and the jar's cookies are sent in one field.
    func ownCookies(with credentials: HopCredentials) -> String? {
        guard jar != nil else { return nil }
        let cookies = fields(with: credentials).filter { $0.name.lowercased() == "cookie" }
        let values = cookies.map(\.value).filter { !$0.isEmpty }
        return values.isEmpty ? nil : values.joined(separator: "; ")
    }
}

/// The signature of a request for an object of S3.
extension Transfer {
    /// What the request needs for S3, if the server and the credentials are not known yet.
    var unpreparedS3: S3Request? { exchange.s3 == nil ? request.s3 : nil }

    var object: S3Object { get throws(Failure) { try S3Object(request.url) } }

    func use(_ access: S3Access, _ origin: Origin) {
        exchange.s3 = access
        move(to: access.location.url, origin)
        secrets.add(.credential(user: access.credentials.accessKey, password: access.credentials.secretKey))
        if let token = access.credentials.sessionToken {
            secrets.add(.headers([HeaderField("x-amz-security-token", token)]))
        }
    }

    /// Notes the region of a bucket, if a response names another one than the request. Returns whether the request is
    /// sent again.
    func noteRegion() -> Bool {
        guard let access = exchange.s3, [301, 307, 400, 403, 404].contains(exchange.head.status),
            let region = exchange.head.fields.first(where: { $0.isNamed("x-amz-bucket-region") })?.text,
            region != access.location.region, S3Settings.isRegion(region),
            let object = try? object, startsAgain(for: .otherRegion)
        else { return false }
        transport?.s3.note(region: region, of: object.bucket, at: access.endpoint)
        wasNotProcessed()
        return true
    }

    /// The lines that sign the request; empty if it is not for an object of S3.
    func signatureLines(_ headers: [HeaderField]) throws(Failure) -> [String] {
        guard let access = exchange.s3, let request = request.s3, let hash = transport?.sha256 else { return [] }
        let signature = RequestSignature(access.credentials, region: access.location.region, hash: hash)
        let fields = try signature.fields(
            method: outgoing.method, access.location, headers: headers, payload: request.payload,
            seconds: Clock.wallMilliseconds / 1_000)
        return fields.map { "\($0.name): \($0.value)" }
    }
}
