/// Checks of `bh_session_configuration.proxy`.
enum ProxyAddress {
    static let schemes = ["http", "https", "socks5", "socks5h"]

    /// Checks that the text has the form scheme://server[:port], perhaps with a slash at the end. No message repeats
    /// the text, because it may contain a password.
    static func check(_ text: String) throws(Failure) {
        let bytes = Array(text.utf8)
        let lower = bytes.map(\.asciiLowercase)
        guard let scheme = schemes.first(where: { lower.starts(with: "\($0)://".utf8) }) else {
            throw invalid("proxy.url starts with none of \(schemes.map { $0 + "://" }.joined(separator: ", "))")
        }
        var rest = bytes[(scheme.utf8.count + 3)...]
        if rest.last == UInt8(ascii: "/") { rest.removeLast() }
        guard !rest.contains(UInt8(ascii: "@")) else {
            throw invalid("proxy.url has a user name; give it as proxy.user, which no listing shows")
        }
        if let colon = rest.lastIndex(of: UInt8(ascii: ":")), rest[colon...].contains(UInt8(ascii: "]")) == false {
            let port = String(decoding: rest[(colon + 1)...], as: UTF8.self)
            guard let number = UInt16(digits: port), number > 0 else { throw invalid("proxy.url has an invalid port") }
            rest = rest[..<colon]
        }
        guard !rest.isEmpty, rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/?#\\".utf8.contains($0) }) else {
            throw invalid("proxy.url is not a scheme, a server and perhaps a port: \"http://proxy.example:3128\"")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
