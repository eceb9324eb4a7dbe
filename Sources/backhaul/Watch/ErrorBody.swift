/// The server's message in the body of an error response.
enum ErrorBody {
    static let longestLine = 200

    /// The first line that has printable characters, with escapes in place of other characters (`Text.visible`). Nil
    /// if no line has printable characters. Also nil if the body is HTML, because the first lines of HTML have no
    /// message.
    static func line(_ body: [UInt8]) -> String? {
        // U+FFFD stands for bytes that are not valid UTF-8, and U+FEFF is a byte order mark.
        let text = String(decoding: body, as: UTF8.self).unicodeScalars.filter { $0 != "\u{fffd}" && $0 != "\u{feff}" }
        for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
            guard line.contains(where: { Text.isPrintable($0) && $0 != " " }) else { continue }
            let shown = Text.visible(String(String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 })))
            let words = withoutDeclaration(shown.drop { $0 == " " })
            guard !words.isEmpty else { continue }
            let start = words.prefix(9).lowercased()
            if start == "<!doctype" || start.hasPrefix("<html") { return nil }
            return String(String.UnicodeScalarView(words.unicodeScalars.prefix(longestLine)))
        }
        return nil
    }

    /// The body as text. Nil if the body is not valid UTF-8.
    static func text(_ body: [UInt8]?) -> String? { body.flatMap { String(validating: $0, as: UTF8.self) } }

    /// The text after `<?xml …?>`, which may be on the same line as the message.
    private static func withoutDeclaration(_ line: Substring) -> Substring {
        guard line.hasPrefix("<?xml"), let end = line.firstRange(of: "?>") else { return line }
        return line[end.upperBound...].drop { $0 == " " }
    }
}
