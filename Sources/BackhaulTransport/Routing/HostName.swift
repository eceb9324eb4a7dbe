public import BackhaulModel
internal import CCurl
internal import Glibc

/// Converts international host names (IDNA 2008 with the mapping of UTS #46).
public enum HostName {
    /// Returns the URL with the ASCII form of its host name (`xn--…`). Returns other texts unchanged.
    public static func ascii(url: String) throws(Failure) -> String {
        let bytes = url.utf8
        guard !bytes.allSatisfy({ $0 < 0x80 }), !S3Object.isObject(url),
            let start = url.firstOccurrence(of: "://")?.upperBound
        else { return url }
        // A combining mark after a separator makes one Character with it, so scalars are compared.
        let authority = Substring(url.unicodeScalars[start...].prefix { !"/?#".unicodeScalars.contains($0) })
        // URLs with a user name are refused elsewhere.
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { return url }
        let name = Substring(authority.unicodeScalars.prefix { $0 != ":" })
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return url }
        return try url[..<start] + ascii(String(name)) + url[name.endIndex...]
    }

    /// Returns the ASCII form of the name.
    ///
    /// Unsafe: the reason is a constant of libidn2, and the name is freed after it is copied.
    static func ascii(_ name: String) throws(Failure) -> String {
        var reason: UnsafePointer<CChar>?
        guard let found = bhl_idn_ascii(name, &reason) else {
            guard let reason else {
                throw invalid("letters outside of ASCII, and libidn2 is not installed; write the name in its xn-- form")
            }
            throw invalid("an invalid international name, \(name): \(String(cString: reason))")
        }
        defer { free(found) }
        let ascii = String(cString: found)
        // The mapping makes separators of some letters, such as U+2100, which would move the end of the name.
        guard ascii.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789.-_".utf8.contains) else {
            throw invalid("an invalid international name, \(name): a character is a separator of URLs")
        }
        return ascii
    }

    private static func invalid(_ reason: String) -> Failure {
        Failure(.invalidArgument, "the URL's server has \(reason)")
    }
}
