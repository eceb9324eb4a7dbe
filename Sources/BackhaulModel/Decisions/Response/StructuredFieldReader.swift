/// Reads structured fields (RFC 9651, section 4.2): dictionaries and single items.
struct StructuredFieldReader {
    enum Value: Equatable {
        case bytes([UInt8])
        case integer(Int64)
        case boolean(Bool)
        /// A value of another type, which no caller needs.
        case other
    }

    struct Member {
        var key: String
        var value: Value
    }

    private var rest: ArraySlice<UInt8>

    private init(_ text: String) { rest = ArraySlice(text.utf8) }

    /// Returns the members of a dictionary, or nil if any part of the field is malformed.
    static func dictionary(_ text: String) -> [Member]? {
        var reader = StructuredFieldReader(text)
        return reader.dictionary()
    }

    /// Returns the value of an item, or nil if the field is malformed.
    static func item(_ text: String) -> Value? {
        var reader = StructuredFieldReader(text)
        reader.skipSpaces()
        guard let value = reader.value(), reader.parameters() else { return nil }
        reader.skipSpaces()
        return reader.rest.isEmpty ? value : nil
    }

    private mutating func dictionary() -> [Member]? {
        var members: [Member] = []
        skipBlanks()
        while !rest.isEmpty {
            guard let key = key() else { return nil }
            // A key without a value has the value true.
            var member = Member(key: key, value: .boolean(true))
            if take("=") {
                guard let value = valueOrList() else { return nil }
                member.value = value
            }
            guard parameters() else { return nil }
            members.append(member)
            skipBlanks()
            if rest.isEmpty { return members }
            guard take(",") else { return nil }
            skipBlanks()
            if rest.isEmpty { return nil }
        }
        return members
    }

    private mutating func valueOrList() -> Value? {
        guard take("(") else { return value() }
        while true {
            skipSpaces()
            if take(")") { return .other }
            guard value() != nil, parameters(), let next = rest.first, next == 0x20 || next == 0x29 else { return nil }
        }
    }

    private mutating func value() -> Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: ":"): return byteSequence().map { .bytes($0) }
        case UInt8(ascii: "\""): return string() ? .other : nil
        case UInt8(ascii: "%"): return displayString() ? .other : nil
        case UInt8(ascii: "@"):
            rest = rest.dropFirst()
            // A date is a whole number of seconds.
            guard case .integer? = number() else { return nil }
            return .other
        case UInt8(ascii: "?"):
            rest = rest.dropFirst()
            return take("1") ? .boolean(true) : take("0") ? .boolean(false) : nil
        case UInt8(ascii: "-"),
            _ where first.isDigit:
            return number()
        case UInt8(ascii: "*"),
            _ where first.isLetter:
            rest = rest.drop { RequestCheck.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: return nil
        }
    }

    private mutating func parameters() -> Bool {
        while take(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if take("="), value() == nil { return false }
        }
        return true
    }

    private mutating func key() -> String? {
        let isFirst = { (byte: UInt8) in byte.isLowercase || byte == UInt8(ascii: "*") }
        guard let first = rest.first, isFirst(first) else { return nil }
        let end = rest.firstIndex { !(isFirst($0) || $0.isDigit || "_-.".utf8.contains($0)) }
        defer { rest = rest[(end ?? rest.endIndex)...] }
        return String(decoding: rest[..<(end ?? rest.endIndex)], as: UTF8.self)
    }

    private mutating func byteSequence() -> [UInt8]? {
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return Base64.decoded(rest[..<end])
    }

    private mutating func string() -> Bool {
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(escaped) else {
                    return false
                }
            case 0x20...0x7E: continue
            default: return false
            }
        }
        return false
    }

    /// Reads a string of Unicode, in which percent signs encode bytes of UTF-8 (RFC 9651, section 4.2.10).
    private mutating func displayString() -> Bool {
        rest = rest.dropFirst()
        guard take("\"") else { return false }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self) != nil
            case UInt8(ascii: "%"):
                guard let high = lowercaseDigit(), let low = lowercaseDigit() else { return false }
                bytes.append(high << 4 | low)
            case 0x20...0x7E: bytes.append(byte)
            default: return false
            }
        }
        return false
    }

    /// Reads a hexadecimal digit. Nil for a letter in upper case.
    private mutating func lowercaseDigit() -> UInt8? {
        rest.popFirst().flatMap { $0.isUppercase ? nil : $0.hexadecimalValue }
    }

    private mutating func number() -> Value? {
        let isNegative = take("-")
        let digits = rest.prefix(while: \.isDigit)
        rest = rest.dropFirst(digits.count)
        guard !digits.isEmpty else { return nil }
        guard take(".") else {
            guard digits.count <= 15, let value = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
            return .integer(isNegative ? -value : value)
        }
        let point = rest.count
        rest = rest.drop(while: \.isDigit)
        return digits.count <= 12 && (1...3).contains(point - rest.count) ? .other : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 } }

    private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
}

extension ResponseHead {
    /// The value of a field that is one non-negative integer; nil if the field is missing, malformed or repeated.
    func integerItem(_ name: String) -> UInt64? {
        guard case .integer(let value)? = item(name) else { return nil }
        return UInt64(exactly: value)
    }

    /// The value of a field that is one boolean.
    func booleanItem(_ name: String) -> Bool? {
        guard case .boolean(let value)? = item(name) else { return nil }
        return value
    }

    private func item(_ name: String) -> StructuredFieldReader.Value? {
        let values = allBytes(name)
        guard values.count == 1, let text = value(name) else { return nil }
        return StructuredFieldReader.item(text)
    }
}
