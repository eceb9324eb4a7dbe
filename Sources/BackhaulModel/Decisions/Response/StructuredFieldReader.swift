/// Reads a dictionary of structured fields (RFC 8941, section 4.2.2): all keys, and the values that are byte sequences.
struct StructuredFieldReader {
    struct Member {
        var key: String
        /// The byte sequence; nil if the value has another type.
        var bytes: [UInt8]?
    }

    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = ArraySlice(text.utf8) }

    /// Returns nil if any part of the field is malformed.
    mutating func dictionary() -> [Member]? {
        var members: [Member] = []
        skipBlanks()
        while !rest.isEmpty {
            guard let key = key() else { return nil }
            var member = Member(key: key)
            if take("=") {
                guard let value = valueOrList() else { return nil }
                if case .bytes(let bytes) = value { member.bytes = bytes }
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

    private enum Value {
        case bytes([UInt8])
        case other
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
        case UInt8(ascii: "?"):
            rest = rest.dropFirst()
            return take("0") || take("1") ? .other : nil
        case UInt8(ascii: "-"),
            _ where first.isDigit:
            return number() ? .other : nil
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

    private mutating func number() -> Bool {
        _ = take("-")
        let before = rest.count
        rest = rest.drop(while: \.isDigit)
        guard rest.count < before else { return false }
        guard take(".") else { return before - rest.count <= 15 }
        let point = rest.count
        rest = rest.drop(while: \.isDigit)
        return (1...3).contains(point - rest.count)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 } }

    private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
}
