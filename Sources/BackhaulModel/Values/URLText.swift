/// Reads facts from the text of a URL without parsing it. The transport (the code that sends requests) parses URLs.
extension StringProtocol {
    /// Whether scheme, server and port of both URLs have the same spelling, apart from case. If one server is spelled
    /// in two ways, the spellings count as two servers.
    func hasAuthority(of other: some StringProtocol) -> Bool {
        schemeAndAuthority.elementsEqual(other.schemeAndAuthority)
    }

    private var schemeAndAuthority: [UInt8] {
        guard let mark = firstOccurrence(of: "://") else { return Array(utf8) }
        let end = utf8[mark.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? utf8.endIndex
        return utf8[..<end].map(\.asciiLowercase)
    }

    /// The URL without its query and fragment.
    var withoutQuery: SubSequence { self[..<(utf8.firstIndex { "?#".utf8.contains($0) } ?? endIndex)] }

    public var isEncryptedURL: Bool { hasScheme("https") }

    /// Whether the URL has this scheme, in any case (RFC 3986, section 3.1). `scheme`: in lower case.
    public func hasScheme(_ scheme: String) -> Bool {
        utf8.prefix(scheme.utf8.count + 1).lazy.map(\.asciiLowercase).elementsEqual("\(scheme):".utf8)
    }
}
