internal import BackhaulModel

/// The value of a statement's parameter.
enum Value {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }
    static func optional(_ bytes: [UInt8]?) -> Value { bytes.map(Value.blob) ?? .null }
    static func optional(_ number: (some FixedWidthInteger)?) -> Value { number.map { .number($0) } ?? .null }
    static func optional(_ flag: Bool?) -> Value { flag.map(Value.flag) ?? .null }
    static func flag(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
    static func number(_ value: some FixedWidthInteger) -> Value { .integer(Int64(clamping: value)) }

    /// Stores all 64 bits of the number. Statements may compare such numbers only for equality: SQLite's integers are
    /// signed, so SQLite would sort the numbers wrongly.
    static func bits(_ value: UInt64) -> Value { .integer(Int64(bitPattern: value)) }
    static func bits(_ value: UInt64?) -> Value { value.map(Value.bits) ?? .null }

    // An id above Int64.max is clamped. This has no effect, because no row has such an id.
    static func id(_ id: SessionID) -> Value { .number(id.rawValue) }
    static func id(_ id: TaskID) -> Value { .number(id.rawValue) }
    static func id(_ id: EventID) -> Value { .number(id.rawValue) }
    static func id(_ id: ChallengeID) -> Value { .number(id.rawValue) }
    static func id(_ id: LaunchID) -> Value { .number(id.rawValue) }
    static func id(_ id: LaneID) -> Value { .number(id.rawValue) }
    static func id(_ id: ConstraintsID) -> Value { .number(id.rawValue) }
    static func id(_ id: GroupID) -> Value { .integer(id.rawValue) }
}
