/// Checks of the names and configuration of a session.
public enum SessionCheck {
    /// Checks that the identifier has 1 to 255 bytes: letters, digits, '.', '-' and '_', with a letter or digit at the
    /// start.
    public static func checkApplication(_ identifier: String) throws(Failure) {
        let bytes = identifier.utf8
        guard !bytes.isEmpty, bytes.count <= Limits.identifierSize else {
            throw invalid(
                "the application identifier has \(bytes.count) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        let isAlphanumeric = { (byte: UInt8) in byte.isLetter || byte.isDigit }
        guard bytes.first.map(isAlphanumeric) == true,
            bytes.allSatisfy({ isAlphanumeric($0) || ".-_".utf8.contains($0) })
        else {
            throw invalid(
                "the application identifier may have letters, digits, '.', '-' and '_' only and starts with a letter "
                    + "or digit, such as org.example.photos")
        }
    }

    /// Checks that the identifier has 1 to 255 bytes and no control character.
    public static func checkSession(_ identifier: String) throws(Failure) {
        let size = identifier.utf8.count
        guard size > 0, size <= Limits.identifierSize else {
            throw invalid("the session identifier has \(size) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        guard identifier.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("the session identifier has a control character")
        }
    }

    public static func check(_ configuration: SessionConfiguration) throws(Failure) {
        try checkSession(configuration.identifier)
        var (checked, ranges) = (configuration, RangeCheck())
        try checked.visitFields(with: &ranges)
        try PolicyCheck.check(configuration)
        if let file = configuration.caFile { try FieldCheck.path(file, "ca_file") }
        try RequestCheck.checkHeaders(configuration.headers)
        try check(configuration.proxy)
        try check(configuration.tls)
    }

    private static func check(_ proxy: ProxyConfiguration) throws(Failure) {
        for text in [proxy.url, proxy.user, proxy.password, proxy.exceptions] {
            guard let text else { continue }
            guard text.utf8.count <= Limits.credentialSize, text.utf8.allSatisfy(\.isText) else {
                throw invalid(
                    "proxy.url, proxy.user, proxy.password or proxy.bypass has a control character or more than "
                        + "\(Limits.credentialSize) bytes")
            }
        }
        guard proxy.user != nil || proxy.password == nil else {
            throw invalid("proxy.password is given without proxy.user; give both or none")
        }
        if proxy.url == "none", proxy.user != nil {
            throw invalid("proxy.url is none, but proxy.user is given; leave out one of them")
        }
        if proxy.url == "none" || proxy.url == nil { return }
        try ProxyAddress.check(proxy.url ?? "")
    }

    private static func check(_ tls: TLSConfiguration) throws(Failure) {
        if let file = tls.clientCertificate { try FieldCheck.path(file, "client_certificate") }
        if let file = tls.clientKey {
            try FieldCheck.path(file, "client_key")
            guard tls.clientCertificate != nil else {
                throw invalid("client_key is given without client_certificate; give both")
            }
        }
        if let pins = tls.pinnedPublicKeys { try PinnedKeys.check(pins) }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
