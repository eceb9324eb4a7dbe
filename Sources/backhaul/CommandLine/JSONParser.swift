/// Reads one JSON value (RFC 8259). It is written by hand, because Swift's JSON decoder is in Foundation, which this
/// program does not use. Numbers must be whole.
struct JSONParser {
    private static let deepest = 32
    private var rest: Substring.UnicodeScalarView
    private var depth = 0

    /// - Returns: The value. Throws a sentence that says what is wrong.
    static func parse(_ text: String) throws(CommandError) -> JSON {
        var parser = JSONParser(rest: text[...].unicodeScalars)
        let value = try parser.value()
        parser.skipBlanks()
        guard parser.rest.isEmpty else { throw parser.problem("there is more text after the value") }
        return value
    }

    private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

    private func problem(_ reason: String) -> CommandError { .usage("the line is no valid JSON: \(reason)") }

    private mutating func skipBlanks() { rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) } }

    private mutating func take(_ word: String) -> Bool {
        skipBlanks()
        return takeAtOnce(word)
    }

    /// Takes the word if no blanks precede it.
    private mutating func takeAtOnce(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func value() throws(CommandError) -> JSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= JSONParser.deepest else { throw problem("it is nested too deeply") }
        if take("{") { return .object(try members()) }
        if take("[") { return .array(try items()) }
        if take("\"") { return .string(try string()) }
        for (word, value) in [("true", JSON.bool(true)), ("false", .bool(false)), ("null", .null)] where take(word) {
            return value
        }
        return try number()
    }

    private mutating func members() throws(CommandError) -> [(String, JSON)] {
        var members: [(String, JSON)] = []
        var names: Set<String> = []
        if take("}") { return members }
        while true {
            guard take("\"") else { throw problem("a name in quotation marks is missing") }
            let name = try string()
            guard take(":") else { throw problem("a colon is missing after \"\(name)\"") }
            guard names.insert(name).inserted else { throw problem("\"\(name)\" occurs twice") }
            members.append((name, try value()))
            if take("}") { return members }
            guard take(",") else { throw problem("a comma or } is missing after \"\(name)\"") }
        }
    }

    private mutating func items() throws(CommandError) -> [JSON] {
        var items: [JSON] = []
        if take("]") { return items }
        while true {
            items.append(try value())
            if take("]") { return items }
            guard take(",") else { throw problem("a comma or ] is missing in a list") }
        }
    }

    private mutating func number() throws(CommandError) -> JSON {
        let text = String(Substring(rest.prefix { "+-.eE0123456789".unicodeScalars.contains($0) }))
        rest.removeFirst(text.unicodeScalars.count)
        if text.isEmpty { throw problem("a value is missing") }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let isPlain = digits.allSatisfy(\.isNumber) && (digits == "0" || !digits.hasPrefix("0"))
        if isPlain, let number = UInt64(text) { return .unsigned(number) }
        if isPlain, let number = Int64(text) { return .integer(number) }
        throw problem("\(text) is no whole number")
    }

    private mutating func string() throws(CommandError) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(text)
            case "\\": text.append(try escaped())
            case _ where scalar.value < 0x20: throw problem("a text contains a control character")
            default: text.append(scalar)
            }
        }
        throw problem("a quotation mark is missing at the end of a text")
    }

    private mutating func escaped() throws(CommandError) -> Unicode.Scalar {
        let plain: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{c}", "n": "\n", "r": "\r", "t": "\t",
        ]
        guard let letter = rest.popFirst() else { throw problem("it ends after a backslash") }
        if let scalar = plain[letter] { return scalar }
        guard letter == "u" else { throw problem("\\\(letter) is no escape") }
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // Characters beyond U+FFFF are written as two surrogates.
        guard (0xD800..<0xDC00).contains(unit), takeAtOnce("\\u") else {
            throw problem("half of a character is missing")
        }
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw problem("half of a character is missing") }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(CommandError) -> UInt32 {
        let digits = String(Substring(rest.prefix(4)))
        guard digits.unicodeScalars.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt32(digits, radix: 16)
        else { throw problem("\\u needs four hexadecimal digits") }
        rest.removeFirst(4)
        return unit
    }
}
