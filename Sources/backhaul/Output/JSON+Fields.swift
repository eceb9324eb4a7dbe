import Backhaul

/// Functions that make JSON with the structure and the names of the C header's structs. Tests compare the JSON with the
/// header.
extension JSON {
    /// An object with all fields of a struct.
    static func record(_: StaticString, _ fields: [(String, JSON)]) -> JSON { .object(fields) }

    /// An object with some fields of a struct.
    static func excerpt(_: StaticString, _ fields: [(String, JSON)]) -> JSON { .object(fields) }

    static func number<Number: BinaryInteger>(_ value: Number) -> JSON {
        Number.isSigned ? .integer(Int64(value)) : .unsigned(UInt64(value))
    }

    /// A number, or null if there is none.
    static func number<Number: BinaryInteger>(_ value: Number?) -> JSON { value.map { .number($0) } ?? .null }

    /// A number, or null if the number is 0. This function is for fields in which 0 means that there is no value.
    static func number<Number: BinaryInteger>(unlessZero value: Number) -> JSON { value == 0 ? .null : .number(value) }

    static func id<ID: RawRepresentable>(_ id: ID?) -> JSON where ID.RawValue == UInt64 { .number(id?.rawValue) }

    static func milliseconds(_ duration: Duration?) -> JSON { .number(duration?.wholeMilliseconds) }

    static func choice(_ value: Bool?) -> JSON { value.map { .bool($0) } ?? .null }

    static func word(_ value: (some Worded)?) -> JSON { .string(value.word) }

    static func word(unlessNil value: (some Worded)?) -> JSON { .optional(value?.word) }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

    static func status(_ error: BackhaulError?) -> JSON { .string((error?.status ?? .ok).name) }

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

    /// The text of a string, or the JSON of another value.
    var plain: String { if case .string(let text) = self { text } else { text } }
}
