internal import BackhaulModel
internal import CCurl

extension EasyHandle {
    /// Sets the options that are the same for all requests of a connection identity (the settings of a connection).
    func set(_ identity: ConnectionIdentity) throws(Failure) {
        try set(identity.certificates, or: identity)
        let minimum = identity.tls.minimum == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        set(CURLOPT_SSLVERSION, Int(minimum))
        set(CURLOPT_PROXY_SSLVERSION, Int(minimum))
        try set(CURLOPT_PINNEDPUBLICKEY, identity.tls.pinnedPublicKeys)
        // With an empty text, libcurl does not read the proxy from the environment.
        try set(CURLOPT_PROXY, identity.proxy?.url ?? "")
        try set(CURLOPT_NOPROXY, "")
    }

    /// Sets the certificates. If the transport (the code that uses libcurl) has not read a file of certificates,
    /// libcurl reads the file.
    private func set(_ certificates: CertificateSet, or identity: ConnectionIdentity) throws(Failure) {
        if case .authorities(let authorities) = certificates.authorities?.content {
            bhl_easy_set_context_function(handle, useAuthorities, authorities.pointer)
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] {
                try set(option, nil)
            }
        } else if let file = identity.caFile {
            try set(CURLOPT_CAINFO, file)
            try set(CURLOPT_PROXY_CAINFO, file)
            // libcurl's directory of authorities is not used, because it contains the system's authorities.
            try set(CURLOPT_CAPATH, nil)
            try set(CURLOPT_PROXY_CAPATH, nil)
        }
        guard let file = identity.tls.clientCertificate else { return }
        // If a key is encrypted and no password is set, OpenSSL asks for the password on the terminal of the process.
        try set(CURLOPT_KEYPASSWD, "")
        let contents = (certificates.certificate?.content, certificates.key?.content)
        if case (.text(let certificate), .text(let key)) = contents {
            try set(CURLOPT_SSLCERT_BLOB, certificate)
            try set(CURLOPT_SSLKEY_BLOB, key)
        } else {
            try set(CURLOPT_SSLCERT, file)
            try set(CURLOPT_SSLKEY, identity.tls.clientKey ?? file)
        }
    }

    private func set(_ option: CURLoption, _ bytes: [UInt8]) throws(Failure) {
        let result = bytes.withUnsafeBytes { bhl_easy_set_bytes(handle, option, $0.baseAddress, $0.count) }
        guard result == CURLE_OK else { throw Failure(.outOfResources, "no memory is left for a certificate") }
    }

    func set(_ version: HTTPVersion, isEncrypted: Bool) {
        // With PIPEWAIT, a request waits for a connection that libcurl is making, because the request may share that
        // connection. If connections cannot be shared, this wait would be useless.
        let mayShare = version.sharesConnections(isEncrypted: isEncrypted)
        set(CURLOPT_PIPEWAIT, mayShare ? 1 : 0)
        if version == .http2PriorKnowledge, !mayShare { set(CURLOPT_FRESH_CONNECT, 1) }
        let value =
            switch (version, isEncrypted) {
            // RFC 9113, section 3.1, deprecates the upgrade from HTTP/1.1 to HTTP/2, and few servers have it.
            case (.http1, _), (.standard, false), (.http2, false): CURL_HTTP_VERSION_1_1
            case (.standard, true), (.http2, true), (.http2PriorKnowledge, true): CURL_HTTP_VERSION_2TLS
            case (.http2PriorKnowledge, false): CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            }
        set(CURLOPT_HTTP_VERSION, Int(value))
    }

    func set(_ option: CURLoption, _ number: Int) { bhl_easy_set_long(handle, option, number) }

    func set(_ option: CURLoption, _ text: String?) throws(Failure) {
        guard bhl_easy_set_string(handle, option, text) == CURLE_OK else {
            throw Failure(.outOfResources, "no memory is left for a transfer")
        }
    }
}
