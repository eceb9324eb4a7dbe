public import BackhaulModel
internal import CCurl

/// URLs, read by curl's own parser (RFC 3986), so that what is checked is what will be asked for.
public enum WebAddress {
    /// Scheme, host and port of an http or https URL. Throws invalidArgument for anything else, and for a URL with a user
    /// name or password, spaces or control characters.
    public static func origin(of url: String) throws(Failure) -> Origin {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw invalid("it has a space or control character; encode it as %20 or the like")
        }
        guard let handle = curl_url() else {
            throw Failure(.outOfResources, "there is no memory to read a URL")
        }
        defer { curl_url_cleanup(handle) }
        let code = curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else { throw invalid(String(cString: curl_url_strerror(code))) }
        let scheme = part(handle, CURLUPART_SCHEME) ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw invalid("its scheme is \(scheme.isEmpty ? "missing" : scheme); only http and https are transferred")
        }
        guard part(handle, CURLUPART_USER) == nil, part(handle, CURLUPART_PASSWORD) == nil else {
            throw invalid("it carries a user name or password; send them as a header instead")
        }
        guard let server = part(handle, CURLUPART_HOST), !server.isEmpty else { throw invalid("it names no server") }
        guard let port = part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ UInt16($0) }), port > 0 else {
            throw invalid("its port is not a number of 1 to 65535")
        }
        return Origin(scheme: scheme, server: server.lowercased(), port: port)
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    private static func invalid(_ reason: String) -> Failure {
        Failure(.invalidArgument, "the URL cannot be used: \(reason)")
    }
}
