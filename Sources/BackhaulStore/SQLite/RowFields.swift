internal import BackhaulModel

// Reads and writes the fields of configurations (settings of sessions) and policies (settings of requests). Each field
// is a column. A column may contain a code, a list of statuses or quiet hours that this version of the library does not
// know. An optional field with such a column becomes nil. Any other field keeps the value that it had before the read.

extension Row: FieldVisitor {
    typealias Problem = Failure

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number, _ column: String
    ) throws(Failure) {
        number = Number.stored(integer(column))
    }

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number?, _ column: String
    ) throws(Failure) {
        number = optionalInteger(column).map(Number.stored)
    }

    mutating func field(_ flag: inout Bool, _ column: String) throws(Failure) { flag = self.flag(column) }

    mutating func field(_ flag: inout Bool?, _ column: String) throws(Failure) { flag = optionalFlag(column) }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code, _ column: String
    ) throws(Failure) {
        code = Code(rawValue: number(column)) ?? code
    }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code?, _ column: String
    ) throws(Failure) {
        code = optionalNumber(column).flatMap(Code.init)
    }

    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits, _ column: String
    ) throws(Failure) where Bits.RawValue == UInt32 {
        bits = Bits(rawValue: number(column))
    }

    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits?, _ column: String
    ) throws(Failure) where Bits.RawValue == UInt32 {
        bits = optionalNumber(column).map(Bits.init)
    }

    mutating func field(_ text: inout String?, _ column: String) throws(Failure) { text = optionalText(column) }

    mutating func field(_ statuses: inout StatusList, _ column: String) throws(Failure) {
        statuses = StatusList(text(column)) ?? statuses
    }

    mutating func field(_ statuses: inout StatusList?, _ column: String) throws(Failure) {
        statuses = optionalText(column).flatMap(StatusList.init)
    }

    mutating func field(_ hours: inout QuietHours?, _ column: String) throws(Failure) {
        hours = optionalText(column).flatMap(QuietHours.init)
    }

    mutating func field(_ headers: inout [HeaderField], _ column: String) throws(Failure) {
        headers = try HeaderBlob.unpack(optionalBlob(column))
    }
}

extension NewRow: FieldVisitor {
    typealias Problem = Never

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(_ number: inout Number, _ column: String) {
        set(column, .integer(number.stored))
    }

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(_ number: inout Number?, _ column: String) {
        set(column, .optional(number?.stored))
    }

    mutating func field(_ flag: inout Bool, _ column: String) { set(column, .flag(flag)) }

    mutating func field(_ flag: inout Bool?, _ column: String) { set(column, .optional(flag)) }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(_ code: inout Code, _ column: String) {
        set(column, .number(code.rawValue))
    }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(_ code: inout Code?, _ column: String) {
        set(column, .optional(code?.rawValue))
    }

    mutating func field<Bits: OptionSet>(_ bits: inout Bits, _ column: String) where Bits.RawValue == UInt32 {
        set(column, .number(bits.rawValue))
    }

    mutating func field<Bits: OptionSet>(_ bits: inout Bits?, _ column: String) where Bits.RawValue == UInt32 {
        set(column, .optional(bits?.rawValue))
    }

    mutating func field(_ text: inout String?, _ column: String) { set(column, .optional(text)) }

    mutating func field(_ statuses: inout StatusList, _ column: String) { set(column, .text(statuses.text)) }

    mutating func field(_ statuses: inout StatusList?, _ column: String) { set(column, .optional(statuses?.text)) }

    mutating func field(_ hours: inout QuietHours?, _ column: String) { set(column, .optional(hours?.text)) }

    mutating func field(_ headers: inout [HeaderField], _ column: String) {
        set(column, .optional(HeaderBlob.pack(headers)))
    }
}

extension FixedWidthInteger {
    /// The number as SQLite stores it. SQLite's integers are signed and have 64 bits, so an unsigned number of 64 bits
    /// is stored with the same bits.
    fileprivate var stored: Int64 { Int64(truncatingIfNeeded: self) }

    fileprivate static func stored(_ integer: Int64) -> Self {
        bitWidth == 64 ? Self(truncatingIfNeeded: integer) : Self(clamping: integer)
    }
}
