/// Reads a JSON document (RFC 8259) from its start to its end. The library has its own code for this, because
/// Foundation is as large as this whole library.
struct JSONReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ document: [UInt8]) { rest = document[...] }

    mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads a number or a word such as `true`, as it is written. Its form is not checked.
    mutating func word() -> String? {
        skipBlanks()
        let word = rest.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        guard !word.isEmpty else { return nil }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    mutating func text() -> String? {
        guard take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                bytes += Array(String(escaped).utf8)
            case 0..<0x20: return nil
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = rest.popFirst() else { return nil }
        let plain: [UInt8: Unicode.Scalar] = [
            UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/",
            UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n",
            UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
        ]
        guard byte == UInt8(ascii: "u") else { return plain[byte] }
        guard let code = codeUnit() else { return nil }
        guard (0xD800..<0xDC00).contains(code) else { return Unicode.Scalar(code) }
        // Characters beyond U+FFFF are written as two surrogates.
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let low = codeUnit(),
            (0xDC00..<0xE000).contains(low)
        else { return nil }
        return Unicode.Scalar(0x10000 + (code - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func codeUnit() -> UInt32? {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst()?.hexadecimalValue else { return nil }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    /// Skips a value of any type. Returns false if there is none.
    mutating func skipValue() -> Bool {
        var depth = 0
        repeat {
            skipBlanks()
            guard let first = rest.first else { return false }
            switch first {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                rest.removeFirst()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                rest.removeFirst()
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                rest.removeFirst()
            case UInt8(ascii: "\""):
                guard skipText() else { return false }
            default:
                guard word() != nil else { return false }
            }
        } while depth > 0
        return depth == 0
    }

    /// Skips a text, even if `text` cannot read it, because it has half of a character.
    mutating func skipText() -> Bool {
        guard take("\"") else { return false }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
        }
        return false
    }
}

/// Takes values from a JSON document.
public enum JSONDocument {
    /// Returns the text or the number to which a JSON pointer leads (RFC 6901). A number is returned as it is written,
    /// because no type has the digits of each number. Returns nil if there is no value, or if it has another type. If
    /// a name occurs twice in an object, its first value counts.
    /// - tokens: the tokens of the pointer. `document`: a valid document.
    public static func value(at tokens: [String], in document: [UInt8]) -> String? {
        var reader = JSONReader(document)
        for token in tokens {
            guard enter(token, &reader) else { return nil }
        }
        reader.skipBlanks()
        if reader.rest.first == UInt8(ascii: "\"") { return reader.text() }
        guard let word = reader.word(), let first = word.utf8.first, first.isDigit || first == UInt8(ascii: "-") else {
            return nil
        }
        return word
    }

    /// Skips all before the value of a member or an item. Returns false if there is none.
    private static func enter(_ token: String, _ reader: inout JSONReader) -> Bool {
        if reader.take("{") { return find(member: token, &reader) }
        return reader.take("[") ? find(item: token, &reader) : false
    }

    /// Skips the members before the value of this one.
    private static func find(member name: String, _ reader: inout JSONReader) -> Bool {
        repeat {
            var copy = reader
            let isFound = copy.text()?.utf8.elementsEqual(name.utf8) ?? false
            guard reader.skipText(), reader.take(":") else { return false }
            if isFound { return true }
            guard reader.skipValue() else { return false }
        } while reader.take(",")
        return false
    }

    /// Skips the items before this one. - number: such as 0 or 10. With a zero before other digits, it is no number.
    private static func find(item number: String, _ reader: inout JSONReader) -> Bool {
        guard let index = UInt64(digits: number), number == "0" || !number.hasPrefix("0") else { return false }
        var position: UInt64 = 0
        while position < index {
            guard reader.skipValue(), reader.take(",") else { return false }
            position += 1
        }
        return true
    }
}
