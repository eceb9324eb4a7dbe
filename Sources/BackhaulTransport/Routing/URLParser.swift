public import BackhaulModel
internal import CCurl

/// Reads URLs with libcurl's parser. So the server that Backhaul checks is also the server to which libcurl connects.
///
/// Unsafe: libcurl's URL handle and its strings are used only within one call.
public enum URLParser {
    /// Returns scheme, server and port of an absolute http or https URL. Throws `invalidArgument` for all other texts,
    /// and for URLs with spaces, control characters, user names or passwords. A password in a URL is refused, because
    /// listings and logs would show it.
    public static func origin(of url: String) throws(Failure) -> Origin {
        let size = url.utf8.count
        guard size > 0 else { throw invalid("the URL is empty; give an http or https URL") }
        guard size <= Limits.urlSize else {
            throw invalid("the URL has \(size) bytes; at most \(Limits.urlSize) are allowed")
        }
        guard url.utf8.allSatisfy(isClean) else {
            throw invalid("the URL contains a space or a control character; write it percent-encoded")
        }
        do throws(Failure) {
            // libcurl accepts "https:///a" and "https:/a" as "https://a".
            let rest = url.utf8.drop { $0 != 0x3A }.dropFirst()
            guard rest.starts(with: "//".utf8) || rest.isEmpty, !rest.starts(with: "///".utf8) else {
                let scheme = String(url.prefix { $0 != ":" }).lowercased()
                guard !rest.starts(with: "/".utf8) || scheme == "https" || scheme == "http" else {
                    throw unsupported(scheme)
                }
                throw invalid("the URL has not two slashes before the name of its server")
            }
            return try read(Array(url.utf8), relativeTo: nil, flags: 0) { _, origin in origin }
        } catch {
            throw naming(url, in: error)
        }
    }

    /// The failure with the URL in its message. Queries and user names are not shown.
    private static func naming(_ url: String, in failure: Failure) -> Failure {
        let subject = "the URL"
        guard failure.message.hasPrefix(subject + " ") else { return failure }
        var named = failure
        named.message = "\(subject) \(ShownURL(url).shortened)\(failure.message.dropFirst(subject.count))"
        return named
    }

    /// Returns false for a space and for a control character.
    static func isClean(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }

    /// Returns the Location field of a response as an absolute URL. Nil if there is none, if it cannot be read, or if
    /// it would give up the encryption.
    public static func location(of head: ResponseHead) -> String? {
        guard let location = head.bytes("Location"), !location.isEmpty, !head.isContradictory("Location"),
            let target = try? resolve(location, against: head.finalURL),
            target.origin.scheme == "https" || head.finalURL.hasScheme("http")
        else { return nil }
        return target.url
    }

    /// Resolves a reference that a server has sent (RFC 3986, section 5). Throws for a URL that is neither http nor
    /// https, and for one with a user name or a password.
    public static func resolve(
        _ reference: String, against base: String
    ) throws(Failure) -> (url: String, origin: Origin) {
        try resolve(Array(reference.utf8), against: base)
    }

    /// Resolves a Location field (RFC 9110, section 10.2.2). Some servers violate the rules and send spaces and bytes
    /// outside of ASCII; each of these bytes is percent-encoded.
    static func resolve(_ location: [UInt8], against base: String) throws(Failure) -> (url: String, origin: Origin) {
        guard location.count <= Limits.urlSize else { throw invalid("it is longer than \(Limits.urlSize) bytes") }
        guard location.allSatisfy(\.isText) else {
            throw invalid("it contains a control character")
        }
        if isMisreadFragment(location) { return (base, try origin(of: base)) }
        return try read(
            encodingFragment(of: location), relativeTo: base, flags: UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        ) { (handle, origin) throws(Failure) in
            guard let url = try part(handle, CURLUPART_URL) else { throw invalid("it cannot be written as a URL") }
            return (url, origin)
        }
    }

    /// Percent-encodes spaces and bytes outside of ASCII in the fragment. libcurl 7.88 does this only for the parts
    /// before it.
    private static func encodingFragment(of location: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        var isFragment = false
        for byte in location {
            if byte == UInt8(ascii: "#") { isFragment = true }
            if isFragment, !(0x21...0x7E).contains(byte) {
                encoded += "%\(String(byte, radix: 16))".utf8
            } else {
                encoded.append(byte)
            }
        }
        return encoded
    }

    private static func read<Result>(
        _ text: [UInt8], relativeTo base: String?, flags: UInt32,
        _ result: (OpaquePointer, Origin) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let handle = curl_url() else { throw noMemory }
        defer { curl_url_cleanup(handle) }
        if let base, curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OUT_OF_MEMORY { throw noMemory }
        let code = (text.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer {
            curl_url_set(handle, CURLUPART_URL, $0.baseAddress, flags)
        }
        // This message names the scheme of the URL. libcurl's own message is only "unsupported scheme".
        if code == CURLUE_UNSUPPORTED_SCHEME {
            throw unsupported(String(decoding: text.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self))
        }
        guard code != CURLUE_OUT_OF_MEMORY else { throw noMemory }
        guard code != CURLUE_BAD_PORT_NUMBER else { throw badPort }
        guard code == CURLUE_OK || code == CURLUE_BAD_SCHEME else {
            throw invalid("the URL cannot be read: \(lowercase(String(cString: curl_url_strerror(code))))")
        }
        guard code == CURLUE_OK, let scheme = try part(handle, CURLUPART_SCHEME) else {
            throw invalid("the URL has no scheme; begin it with https:// or http://")
        }
        guard scheme == "https" || scheme == "http" else { throw unsupported(scheme) }
        guard try part(handle, CURLUPART_USER) == nil, try part(handle, CURLUPART_PASSWORD) == nil else {
            throw invalid(
                base == nil
                    ? "the URL contains a user name or a password; send these in an Authorization header"
                    : "it contains a user name or a password")
        }
        guard var name = try part(handle, CURLUPART_HOST), !name.isEmpty else {
            throw invalid("the URL names no server")
        }
        // libcurl would convert a name with bytes outside of ASCII according to the locale of the process. But the
        // program that embeds the library may have set any locale.
        if !name.utf8.allSatisfy({ $0 < 0x80 }) {
            guard base != nil else {
                throw invalid("the name of the URL's server has letters outside of ASCII; write it in its xn-- form")
            }
            name = try HostName.ascii(name)
            guard curl_url_set(handle, CURLUPART_HOST, name, 0) == CURLUE_OK else { throw noMemory }
        }
        let digits = try part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT))
        guard let port = digits.flatMap({ UInt16($0) }), port > 0 else {
            throw badPort
        }
        return try result(handle, Origin(scheme: scheme, server: lowercase(name), port: port))
    }

    /// Returns a part of the URL, or nil if the URL does not have it.
    static func part(
        _ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0
    ) throws(Failure) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = curl_url_get(handle, part, &text, flags)
        guard code != CURLUE_OUT_OF_MEMORY else { throw noMemory }
        guard code == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    private static func lowercase(_ name: String) -> String {
        String(decoding: name.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    private static func unsupported(_ scheme: String) -> Failure {
        invalid("the URL has the scheme \(scheme.prefix(32)), which is not supported; use https or http")
    }

    private static var badPort: Failure { invalid("the URL has no valid port; ports are 1 to 65535") }

    static var noMemory: Failure { Failure(.outOfResources, "no memory is left to read a URL") }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
