internal import BackhaulModel

/// What a parameter of a statement can be.
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

    /// All 64 bits, for numbers that are only compared for equality: SQLite's integers are signed.
    static func bits(_ value: UInt64) -> Value { .integer(Int64(bitPattern: value)) }
    static func bits(_ value: UInt64?) -> Value { value.map(Value.bits) ?? .null }

    // No row has a number above Int64.max, so the clamped one finds as little.
    static func id(_ id: SessionID) -> Value { .number(id.rawValue) }
    static func id(_ id: TaskID) -> Value { .number(id.rawValue) }
    static func id(_ id: EventID) -> Value { .number(id.rawValue) }
    static func id(_ id: ChallengeID) -> Value { .number(id.rawValue) }
    static func id(_ id: LaunchID) -> Value { .number(id.rawValue) }
    static func id(_ id: LaneID) -> Value { .number(id.rawValue) }
    static func id(_ id: ConstraintsID) -> Value { .number(id.rawValue) }
    static func id(_ id: GroupID) -> Value { .integer(id.rawValue) }
}
