/// Chooses a file name from the response. The result is always a name without a path.
public enum ServerFileName {
    /// The longest extension, in bytes. A longer ending is treated as a part of the name.
    private static let maximumExtensionSize = 32

    /// Returns the name from Content-Disposition (RFC 6266, section 4.3), else the last part of a URL, else "download".
    /// If redirects lead to another URL, the requested URL decides: the other URL is often a storage key. But if only
    /// the last part of the other URL has an extension, or if only the other URL has a last part, that name says more.
    static func choose(_ head: ResponseHead, requested url: String) -> String {
        let disposition = head.bytes("Content-Disposition").map(ContentDisposition.init)
        for candidate in [disposition?.extendedName, disposition?.name] {
            if let name = candidate.flatMap(sanitised) { return name }
        }
        let names = [url, head.finalURL].compactMap(from(url:))
        return names.first(where: hasExtension) ?? names.first ?? "download"
    }

    private static func hasExtension(_ name: String) -> Bool {
        guard let dot = lastDot(name), dot != name.startIndex else { return false }
        let ending = name.utf8[dot...].dropFirst()
        return (1..<maximumExtensionSize).contains(ending.count) && ending.allSatisfy { $0.isLetter || $0.isDigit }
    }

    /// The place of the last dot. Bytes are searched: a dot may be one Character with the letter before or after it,
    /// and a search for Characters from the end needs quadratic time if a server repeats the letters of flags.
    private static func lastDot(_ name: String) -> String.Index? { name.utf8.lastIndex(of: UInt8(ascii: ".")) }

    /// The name without a path, without characters that mislead a reader, and without leading dots, which hide a file.
    /// Nil if no character is left.
    static func sanitised(_ text: String) -> String? {
        // A backslash separates the parts of a Windows path.
        let end = text.unicodeScalars.lastIndex { $0 == "/" || $0 == "\\" }
        let last = end.map { text.unicodeScalars[text.unicodeScalars.index(after: $0)...] }
        let part = String(last.map(String.UnicodeScalarView.init) ?? text.unicodeScalars)
        let plain = PlainText.of(part, atMost: .max).unicodeScalars
        // A user cannot see blanks at the start or end of a name, and a leading dot hides the file.
        let start = plain.firstIndex { $0 != "." && !$0.properties.isWhitespace }
        guard let start, let stop = plain.lastIndex(where: { !$0.properties.isWhitespace }) else { return nil }
        // After the cut, the name may end with another dot or blank.
        return portable(cut(portable(String(plain[start...stop]))))
    }

    /// FAT, exFAT and many network shares refuse these characters, and a dot or blank at the end.
    private static let refusedByMany = Set("\"*:<>?|".unicodeScalars)

    private static func portable(_ name: String) -> String {
        var portable = String.UnicodeScalarView(name.unicodeScalars.map { refusedByMany.contains($0) ? "_" : $0 })
        while let last = portable.last, last == "." || last.properties.isWhitespace { portable.removeLast() }
        return String(portable)
    }

    /// The name with a number before its extension, such as "a (1).tar.gz". The number 0 stands for the name itself.
    public static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        var stem = name[..<(hasExtension(name) ? lastDot(name) ?? name.endIndex : name.endIndex)]
        if stem.hasSuffix(".tar"), stem != ".tar" { stem = stem.dropLast(".tar".count) }
        let ending = " (\(number))" + name[stem.endIndex...]
        return start(of: stem, room: Limits.fileNameSize - ending.utf8.count) + ending
    }

    /// The last part of the URL's path as a name. Bytes that are not UTF-8 stay percent-encoded. Nil if the part is
    /// empty, or if no character of it is left.
    public static func from(url: String) -> String? { parts(of: url).last.flatMap(name(ofPart:)) }

    /// The directories in the URL's path as names. Parts of which no character is left, such as "..", are left out.
    public static func directories(of url: String) -> [String] { parts(of: url).dropLast().compactMap(name(ofPart:)) }

    /// The text as a name of a file or directory. Nil if no character of it is left.
    public static func component(_ text: String) -> String? { sanitised(text) }

    /// The parts of the URL's path between the slashes.
    private static func parts(of url: String) -> [Substring.UTF8View] {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let mark = url.firstOccurrence(of: "://"), mark.upperBound <= path.endIndex,
            let root = path[mark.upperBound...].firstIndex(of: UInt8(ascii: "/"))
        else { return [] }
        return path[path.index(after: root)...].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    private static func name(ofPart part: Substring.UTF8View) -> String? {
        sanitised(PercentCoding.decoded(part).flatMap(ContentDisposition.text) ?? String(Substring(part)))
    }

    /// Shortens the name to 255 bytes, and keeps whole characters and the extension.
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > Limits.fileNameSize else { return name }
        var end = lastDot(name) ?? name.endIndex
        if end == name.startIndex || name.utf8[end...].count > maximumExtensionSize { end = name.endIndex }
        let ending = name[end...]
        let start = start(of: name[..<end], room: Limits.fileNameSize - ending.utf8.count)
        // If the first character alone is too long, its first scalars are used.
        if start.isEmpty { return PlainText.of(name, atMost: Limits.fileNameSize) }
        return start + ending
    }

    /// The whole characters that fit into `room` bytes.
    private static func start(of text: some StringProtocol, room: Int) -> String {
        var (room, start) = (room, "")
        for character in text {
            room -= character.utf8.count
            if room < 0 { break }
            start.append(character)
        }
        return start
    }
}
