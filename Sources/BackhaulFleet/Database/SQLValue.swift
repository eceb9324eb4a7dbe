internal import BackhaulModel

/// A parameter of a statement.
enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case integers([Int64])
    case texts([String?])
    case byteLists([[UInt8]?])

    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }

    static func unsigned(_ number: UInt64) -> SQLValue { .integer(Int64(truncatingIfNeeded: number)) }

    // An id that a host gives, above Int64.max, is clamped. No row that the library has stored has such an id.
    static func id(_ id: some RowNumber) -> SQLValue { .integer(Int64(clamping: id.rawValue)) }
    static func ids(_ ids: [some RowNumber]) -> SQLValue { .integers(ids.map { Int64(clamping: $0.rawValue) }) }

    /// The text form of the value, which PostgreSQL parses; nil for NULL.
    var encoded: String? {
        switch self {
        case .null: nil
        case .integer(let number): String(number)
        case .text(let text): text
        case .bytes(let bytes): "\\x" + Self.hexadecimal(bytes)
        case .integers(let numbers): "{" + numbers.map(String.init).joined(separator: ",") + "}"
        case .texts(let texts): "{" + texts.map { $0.map(Self.quoted) ?? "NULL" }.joined(separator: ",") + "}"
        case .byteLists(let lists):
            "{"
                + lists.map { $0.map { "\"\\\\x" + Self.hexadecimal($0) + "\"" } ?? "NULL" }.joined(separator: ",")
                + "}"
        }
    }

    /// An element of an array: in quotation marks, which with backslashes are escaped.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            // Unsafe: the buffer has room for two digits of each byte, and all of them are written.
            for (index, byte) in bytes.enumerated() {
                buffer[index * 2] = digits[Int(byte >> 4)]
                buffer[index * 2 + 1] = digits[Int(byte & 0xF)]
            }
            return bytes.count * 2
        }
    }
}
