/// The server's message in the body of an error response.
enum ErrorBody {
    static let longestLine = 200

    /// The printable characters of the first line that has printable characters. Nil if no line has such characters.
    /// Also nil if the body is HTML, because the first lines of HTML have no message.
    static func line(_ body: [UInt8]) -> String? {
        // A byte order mark is a format character. So it is not printable, and it is removed.
        let text = String(decoding: body, as: UTF8.self)
        for line in text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
            let shown = String(
                String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 }.filter { isShown($0) }))
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

    /// Whether a character is shown. U+FFFD is not shown, because it stands for bytes that are not valid UTF-8.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool { Text.isPrintable(scalar) && scalar != "\u{fffd}" }

    /// The text after `<?xml …?>`, which may be on the same line as the message.
    private static func withoutDeclaration(_ line: Substring) -> Substring {
        guard line.hasPrefix("<?xml"), let end = line.firstRange(of: "?>") else { return line }
        return line[end.upperBound...].drop { $0 == " " }
    }
}
