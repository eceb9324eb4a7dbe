/// A JSON value (RFC 8259) for output. It has its own encoder, because Swift's JSON encoder is in Foundation, and this
/// program does not use Foundation.
enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    /// Bytes as base64 (RFC 4648 section 4).
    static func bytes(_ bytes: [UInt8]?) -> JSON { bytes.map { .string(base64($0)) } ?? .null }

    /// The JSON text on one line. Control characters are escaped, because a terminal would obey them.
    var text: String {
        var result = ""
        write(to: &result)
        return result
    }

    private func write(to result: inout String) {
        switch self {
        case .null: result += "null"
        case .bool(let value): result += value ? "true" : "false"
        case .integer(let value): result += String(value)
        case .unsigned(let value): result += String(value)
        case .string(let value): JSON.quote(value, to: &result)
        case .array(let items):
            result += "["
            for (index, item) in items.enumerated() {
                if index > 0 { result += "," }
                item.write(to: &result)
            }
            result += "]"
        case .object(let members):
            result += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { result += "," }
                JSON.quote(member.0, to: &result)
                result += ":"
                member.1.write(to: &result)
            }
            result += "}"
        }
    }

    private static func quote(_ text: String, to result: inout String) {
        result += "\""
        // Most texts need no escapes. One append is much faster than one for each character.
        if text.utf8.allSatisfy(isPlain) {
            result += text
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &result) }
        }
        result += "\""
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        case _ where Text.isPrintable(scalar): result.unicodeScalars.append(scalar)
        default: for unit in String(scalar).utf16 { result += "\\u" + Text.hexadecimal(UInt32(unit), digits: 4) }
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for offset in 0..<3 { bits = bits << 8 | (offset < group.count ? UInt32(group[start + offset]) : 0) }
            for place in 0..<4 {
                result.append(place <= group.count ? alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)] : "=")
            }
        }
        return result
    }
}
