/// Why a server refused, in its own words.
enum ErrorBody {
    private static let longestLine = 200

    /// The first line that says something, without what cannot be shown. Nil when there is none, and for a page of
    /// HTML, whose first lines say nothing.
    static func line(_ body: [UInt8]) -> String? {
        // A byte order mark is of category format, so that it is no printable character.
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

    /// The body as text; nil when it is none.
    static func text(_ body: [UInt8]?) -> String? { body.flatMap { String(validating: $0, as: UTF8.self) } }

    /// U+FFFD stands for bytes that are no text.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool { Text.isPrintable(scalar) && scalar != "\u{fffd}" }

    /// Behind `<?xml …?>`, which may stand on the line that says something.
    private static func withoutDeclaration(_ line: Substring) -> Substring {
        guard line.hasPrefix("<?xml"), let end = line.firstRange(of: "?>") else { return line }
        return line[end.upperBound...].drop { $0 == " " }
    }
}
