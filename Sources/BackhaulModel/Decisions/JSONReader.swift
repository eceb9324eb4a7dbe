/// Reads a JSON document (RFC 8259) from its start to its end. The library has its own code for this, because
/// Foundation is as large as this whole library.
struct JSONReader {
    private(set) var rest: ArraySlice<UInt8>

    /// - start: the position of the first byte to read.
    init(_ document: [UInt8], from start: Int = 0) { rest = document[start...] }

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

/// A valid JSON document from which several values are taken. Each object and each array is read one time, when a
/// pointer first leads into it.
public struct JSONDocument: Sendable {
    private let document: [UInt8]
    /// For each object that was read, by its position: the positions of its members' values.
    private(set) var objects: [Int: [ByteString: Int]] = [:]
    /// For each array that was read, by its position: the positions of its items.
    private(set) var arrays: [Int: [Int]] = [:]

    public init(_ document: [UInt8]) { self.document = document }

    /// Returns the text or the number to which a JSON pointer leads (RFC 6901). A number is returned as it is written,
    /// because no type has the digits of each number. Returns nil if there is no value, or if it has another type. If
    /// a name occurs twice in an object, its first value counts.
    /// - tokens: the tokens of the pointer.
    public mutating func value(at tokens: [String]) -> String? {
        var position = 0
        for token in tokens {
            guard let next = self.position(of: token, in: position) else { return nil }
            position = next
        }
        var reader = JSONReader(document, from: position)
        reader.skipBlanks()
        if reader.rest.first == UInt8(ascii: "\"") { return reader.text() }
        guard let word = reader.word(), let first = word.utf8.first, first.isDigit || first == UInt8(ascii: "-") else {
            return nil
        }
        return word
    }

    /// Returns the position of a member's value or of an item, in the object or array at the position `container`.
    private mutating func position(of token: String, in container: Int) -> Int? {
        var reader = JSONReader(document, from: container)
        if reader.take("{") {
            if objects[container] == nil { objects[container] = Self.members(&reader) }
            return objects[container]?[ByteString(token)]
        }
        // With a zero before other digits, the token is no number.
        guard reader.take("["), let index = UInt64(digits: token), token == "0" || !token.hasPrefix("0") else {
            return nil
        }
        if arrays[container] == nil { arrays[container] = Self.items(&reader) }
        guard let items = arrays[container], index < items.count else { return nil }
        return items[Int(index)]
    }

    private static func members(_ reader: inout JSONReader) -> [ByteString: Int] {
        var positions: [ByteString: Int] = [:]
        repeat {
            var copy = reader
            let name = copy.text()
            guard reader.skipText(), reader.take(":") else { break }
            if let name, positions[ByteString(name)] == nil { positions[ByteString(name)] = reader.rest.startIndex }
        } while reader.skipValue() && reader.take(",")
        return positions
    }

    private static func items(_ reader: inout JSONReader) -> [Int] {
        var positions: [Int] = []
        repeat { positions.append(reader.rest.startIndex) } while reader.skipValue() && reader.take(",")
        return positions
    }
}
