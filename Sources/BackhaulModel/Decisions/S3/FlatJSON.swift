/// Reads the members of a JSON object whose values are texts, numbers, true, false or null. Credentials of AWS have
/// this form. The library has its own code for this, because Foundation is as large as this whole library.
enum FlatJSON {
    /// The members, with numbers and words as they are written, and without those that are null. Nil if the bytes are
    /// not such an object.
    static func members(_ bytes: [UInt8]) -> [String: String]? {
        var reader = Reader(rest: bytes[...])
        guard reader.take("{") else { return nil }
        var members: [String: String] = [:]
        if !reader.take("}") {
            repeat {
                guard let name = reader.text(), reader.take(":"), let value = reader.value() else { return nil }
                members[name] = value.text
            } while reader.take(",")
            guard reader.take("}") else { return nil }
        }
        reader.skipBlanks()
        return reader.rest.isEmpty ? members : nil
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

        mutating func take(_ mark: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func value() -> (text: String?, Void)? {
            skipBlanks()
            if rest.first == UInt8(ascii: "\"") { return text().map { ($0, ()) } }
            let word = rest.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
            guard !word.isEmpty else { return nil }
            rest = rest.dropFirst(word.count)
            let text = String(decoding: word, as: UTF8.self)
            return (text == "null" ? nil : text, ())
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

        /// Credentials have no characters outside of the basic plane, so surrogates are refused.
        private mutating func escape() -> Unicode.Scalar? {
            guard let byte = rest.popFirst() else { return nil }
            let plain: [UInt8: Unicode.Scalar] = [
                UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/",
                UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n",
                UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
            ]
            guard byte == UInt8(ascii: "u") else { return plain[byte] }
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = rest.popFirst()?.hexadecimalValue else { return nil }
                code = code << 4 | UInt32(digit)
            }
            return Unicode.Scalar(code)
        }
    }
}
