/// A text that may be a URL, in the form in which messages show it: without a user name and password. The text comes
/// from a user, a list or a server, so it may be malformed. If the end of a password is in doubt, everything up to the
/// last "@" is left out.
public struct ShownURL: Sendable {
    /// The start of the text up to the name of the server, such as "https://".
    public let start: String
    /// The text from the name of the server on.
    public let rest: String
    public let hasScheme: Bool
    /// Whether something was left out that may be a user name or a password.
    public let hasUser: Bool

    public init(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let scheme = ShownURL.schemeSize(bytes)
        let server = bytes[scheme...].firstIndex { !"/\\".utf8.contains($0) } ?? bytes.endIndex
        let authority = bytes[server...].prefix { !"/?#".utf8.contains($0) }
        let isPlain = ShownURL.isPlain(authority, mayHavePort: scheme > 0)
        let user = isPlain ? nil : bytes[server...].lastIndex(of: UInt8(ascii: "@"))
        start = String(decoding: bytes[..<server], as: UTF8.self)
        rest = String(decoding: bytes[(user.map { $0 + 1 } ?? server)...], as: UTF8.self)
        hasScheme = scheme > 0
        hasUser = user != nil
    }

    public var text: String { start + rest }

    /// The text without a query and a fragment, which may contain a signature or a token.
    public var withoutQuery: String {
        start + rest[..<(rest.utf8.firstIndex { "?#".utf8.contains($0) } ?? rest.endIndex)]
    }

    /// The text without a query and a fragment, with a mark in their place.
    public var shortened: String { withoutQuery == text ? text : withoutQuery + "?…" }

    /// The sentence without the users of the URLs that are words of it.
    public static func withoutUsers(_ sentence: String) -> String { replacingURLs(in: sentence, \.text) }

    /// The sentence without the users and the queries of the URLs that are words of it.
    public static func withoutQueries(_ sentence: String) -> String { replacingURLs(in: sentence, \.shortened) }

    /// The sentence with each URL that is a word of it replaced by `shown`.
    private static func replacingURLs(in sentence: String, _ shown: (ShownURL) -> String) -> String {
        let words = sentence.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { word in
            guard let mark = word.firstOccurrence(of: "://") else { return String(word) }
            let scheme = word.utf8[..<mark.lowerBound].lastIndex { !isSchemeByte($0) }.map(word.utf8.index(after:))
            let start = scheme ?? word.startIndex
            return word[..<start] + shown(ShownURL(word[start...]))
        }.joined(separator: " ")
    }

    /// The size of the scheme and its colon; 0 if the text has no scheme. Before a colon without slashes, only the
    /// schemes of the web count: "me:password@example.org" begins with a user name.
    private static func schemeSize(_ bytes: [UInt8]) -> Int {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].allSatisfy(isSchemeByte) else {
            return 0
        }
        let name = bytes[..<colon].map(\.asciiLowercase)
        let isWeb = name == Array("http".utf8) || name == Array("https".utf8)
        return isWeb || colon > 0 && bytes[colon...].starts(with: "://".utf8) ? colon + 1 : 0
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "+-.".utf8.contains(byte)
    }

    /// Whether these bytes are the name or address of a server, perhaps with a port, without any doubt.
    private static func isPlain(_ authority: ArraySlice<UInt8>, mayHavePort: Bool) -> Bool {
        var rest = authority
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[(rest.startIndex + 1)..<end]
            guard address.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: ":") }) else { return false }
            rest = rest[(end + 1)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return false }
        } else {
            rest = rest.drop(while: isNameByte)
        }
        guard rest.first == UInt8(ascii: ":") else { return rest.isEmpty }
        let port = String(decoding: rest.dropFirst(), as: UTF8.self)
        return mayHavePort && (port.isEmpty || UInt16(digits: port) != nil)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte >= 0x80 || "-._~%".utf8.contains(byte)
    }
}
