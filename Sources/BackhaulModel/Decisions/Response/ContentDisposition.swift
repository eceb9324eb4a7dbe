/// The file names in a Content-Disposition field (RFC 6266). The reader is lenient, because servers often break the
/// grammar.
struct ContentDisposition {
    /// The name from `filename*` (RFC 8187). This name is preferred, because it states its encoding.
    private(set) var extendedName: String?
    private(set) var name: String?

    init(_ value: [UInt8]) {
        var reader = Reader(rest: value[...])
        reader.skip { $0 != UInt8(ascii: ";") }
        while reader.take(UInt8(ascii: ";")) {
            reader.skipBlanks()
            let parameter = String(decoding: reader.token().map(\.asciiLowercase), as: UTF8.self)
            reader.skipBlanks()
            guard reader.take(UInt8(ascii: "=")) else {
                reader.skipToSemicolon()
                continue
            }
            reader.skipBlanks()
            let value = reader.value()
            // If several parameters have the same name, the first one counts.
            switch parameter {
            case "filename*" where extendedName == nil: extendedName = Self.decoded(value)
            case "filename" where name == nil: name = Self.lenientText(value)
            default: break
            }
            reader.skipToSemicolon()
        }
    }

    /// Decodes an ext-value such as `UTF-8'en'%e2%82%ac` (RFC 8187, section 3.2). The encodings UTF-8 and ISO-8859-1
    /// are supported. Returns nil for other encodings, and for bytes that are invalid in their encoding.
    private static func decoded(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentCoding.decoded(parts[2]) else { return nil }
        switch String(decoding: parts[0].map(\.asciiLowercase), as: UTF8.self) {
        case "utf-8": return text(bytes)
        case "iso-8859-1":
            return latin1(bytes)
        default: return nil
        }
    }

    /// Returns the text of a quoted string or token. HTTP/1.0 defined ISO-8859-1 for it, and servers send UTF-8. So
    /// bytes that are not UTF-8 are ISO-8859-1.
    private static func lenientText(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self) == nil ? latin1(bytes) : text(bytes)
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    /// Returns nil for bytes that are not UTF-8. Also returns nil for text with U+FFFD: this character shows that an
    /// earlier decoder has replaced invalid bytes.
    static func text(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\u{FFFD}") else {
            return nil
        }
        return text
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func skip(while condition: (UInt8) -> Bool) { rest = rest.drop(while: condition) }
        mutating func skipBlanks() { skip { $0 == 0x20 || $0 == 0x09 } }

        mutating func token() -> ArraySlice<UInt8> {
            let end = rest.firstIndex { !RequestCheck.isTokenByte($0) } ?? rest.endIndex
            defer { rest = rest[end...] }
            return rest[..<end]
        }

        /// Reads a quoted string, or the bytes up to the next semicolon.
        mutating func value() -> [UInt8] {
            guard take(UInt8(ascii: "\"")) else {
                let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
                defer { rest = rest[end...] }
                var value = rest[..<end]
                while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
                return Array(value)
            }
            var value: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                // Some servers send Windows paths without escaping the backslashes. So a backslash is an escape only
                // before a quote or another backslash.
                if byte == UInt8(ascii: "\\"), let next = rest.first, next == UInt8(ascii: "\"") || next == byte {
                    value.append(next)
                    rest = rest.dropFirst()
                } else {
                    value.append(byte)
                }
            }
            return value
        }

        mutating func skipToSemicolon() { skip { $0 != UInt8(ascii: ";") } }
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
enum PercentCoding {
    /// Returns nil if a percent sign is not followed by two hexadecimal digits.
    static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
