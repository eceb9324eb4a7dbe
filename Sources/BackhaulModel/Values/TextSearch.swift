extension StringProtocol {
    /// The first place of another text in this text. Texts are compared byte by byte. The standard library's search is
    /// not used, because it adds 1.4 MB of regular expressions to the binary.
    public func firstOccurrence(of text: String) -> Range<String.Index>? {
        let wanted = text.utf8
        guard let first = wanted.first else { return startIndex..<startIndex }
        var start = utf8.startIndex
        while let found = utf8[start...].firstIndex(of: first) {
            if utf8[found...].starts(with: wanted) { return found..<utf8.index(found, offsetBy: wanted.count) }
            start = utf8.index(after: found)
        }
        return nil
    }

    public func has(_ text: String) -> Bool { firstOccurrence(of: text) != nil }
}
