import CBackhaul

/// Functions that make JSON from structs of the C header. The JSON has the structure and the names of the header's
/// fields. Tests compare the JSON with the header.
extension JSON {
    /// An object with all fields of a struct.
    static func record<Struct>(of _: Struct.Type, _ fields: [(String, JSON)]) -> JSON { .object(fields) }

    /// An object with some fields of a struct.
    static func excerpt<Struct>(of _: Struct.Type, _ fields: [(String, JSON)]) -> JSON { .object(fields) }

    static func number<Number: BinaryInteger>(_ value: Number) -> JSON {
        Number.isSigned ? .integer(Int64(value)) : .unsigned(UInt64(value))
    }

    /// A number, or null if the number is 0. This function is for fields in which 0 means that there is no value.
    static func number<Number: BinaryInteger>(unlessZero value: Number) -> JSON { value == 0 ? .null : .number(value) }

    static func choice(_ value: Int32) -> JSON { Int(value) == BH_DEFAULT ? .null : .bool(Int(value) == BH_YES) }

    static func word(_ value: Int32, _ table: [(String, Int)]) -> JSON { .string(Names.word(value, table)) }

    static func words(_ bits: UInt32, _ table: [(String, Int)]) -> JSON { .strings(Names.words(bits, table)) }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

    static func status(_ status: bh_status) -> JSON { .string(String(cString: bh_status_name(status))) }

    /// The names and values of all members that are not null, as texts that a command shows to the user. For example,
    /// a name is "retry.maximum_attempts", and its value is "5".
    var lines: [(String, String)] {
        guard case .object(let members) = self else { return [] }
        return members.flatMap { name, value -> [(String, String)] in
            switch value {
            case .null: []
            case .string(let text): [(name, text)]
            case .bool(let value): [(name, value ? "yes" : "no")]
            case .array(let items): items.isEmpty ? [] : [(name, items.map(\.plain).joined(separator: ", "))]
            case .object: value.lines.map { ("\(name).\($0.0)", $0.1) }
            default: [(name, value.text)]
            }
        }
    }

    private var plain: String { if case .string(let text) = self { text } else { text } }
}
