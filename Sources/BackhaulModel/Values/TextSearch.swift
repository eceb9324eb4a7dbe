extension StringProtocol {
    /// Where a text lies in this one, byte for byte. Ours, because the standard library's search brings 1.4 MB of
    /// regular expressions with it.
    public func firstPosition(of text: String) -> String.Index? {
        let wanted = text.utf8
        guard let first = wanted.first else { return startIndex }
        var start = utf8.startIndex
        while let found = utf8[start...].firstIndex(of: first) {
            if utf8[found...].starts(with: wanted) { return found }
            start = utf8.index(after: found)
        }
        return nil
    }

    /// Whether scheme, server and port are written alike. Other spellings of the same count as others.
    func hasAuthority(of other: some StringProtocol) -> Bool {
        schemeAndAuthority.elementsEqual(other.schemeAndAuthority)
    }

    private var schemeAndAuthority: [UInt8] {
        guard let mark = firstPosition(of: "://") else { return Array(utf8) }
        let start = utf8.index(mark, offsetBy: "://".utf8.count)
        let end = utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? utf8.endIndex
        return utf8[..<end].map(\.asciiLowercase)
    }

    var isEncryptedURL: Bool { utf8.prefix("https:".utf8.count).map(\.asciiLowercase) == Array("https:".utf8) }

    public func has(_ text: String) -> Bool { firstPosition(of: text) != nil }
}
