import BackhaulModel

/// Fills records with generated values. A record passes each of its fields to the generator, which is a `FieldVisitor`.
extension Generator: FieldVisitor {
    typealias Problem = Never

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(_ number: inout Number, _ column: String) {
        number = integer()
    }

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(_ number: inout Number?, _ column: String) {
        number = optional { $0.integer() }
    }

    mutating func field(_ flag: inout Bool, _ column: String) { flag = bool() }

    mutating func field(_ flag: inout Bool?, _ column: String) { flag = optional { $0.bool() } }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(_ code: inout Code, _ column: String) {
        code = any()
    }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(_ code: inout Code?, _ column: String) {
        code = optional { $0.any() }
    }

    mutating func field<Bits: OptionSet>(_ bits: inout Bits, _ column: String) where Bits.RawValue == UInt32 {
        bits = Bits(rawValue: integer())
    }

    mutating func field<Bits: OptionSet>(_ bits: inout Bits?, _ column: String) where Bits.RawValue == UInt32 {
        bits = optional { Bits(rawValue: $0.integer()) }
    }

    mutating func field(_ text: inout String?, _ column: String) { text = optional { $0.text() } }

    mutating func field(_ statuses: inout StatusList, _ column: String) { statuses = self.statuses() }

    mutating func field(_ statuses: inout StatusList?, _ column: String) { statuses = optional { $0.statuses() } }

    mutating func field(_ hours: inout QuietHours?, _ column: String) { hours = optional { $0.quietHours() } }

    mutating func field(_ headers: inout [HeaderField], _ column: String) { headers = list { $0.header() } }
}
