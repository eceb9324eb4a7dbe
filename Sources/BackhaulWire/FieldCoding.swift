internal import BackhaulModel

// Writes and reads fields in the formats of docs/wire.md. The parameter `column` is the name of a column in the
// database, and is not used here.

extension Coder: FieldVisitor {
    typealias Problem = Malformed

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number, _ column: String
    ) throws(Malformed) {
        if isReading { number = try integer() } else { write(number) }
    }

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number?, _ column: String
    ) throws(Malformed) {
        if isReading {
            number = try next(Bool.self) ? try integer() : nil
        } else {
            (number != nil).write(to: &self)
            if let number { write(number) }
        }
    }

    mutating func field(_ flag: inout Bool, _ column: String) throws(Malformed) { try field(&flag) }

    mutating func field(_ flag: inout Bool?, _ column: String) throws(Malformed) { try wide(&flag) }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code, _ column: String
    ) throws(Malformed) {
        guard isReading else { return write(byte: UInt8(truncatingIfNeeded: code.rawValue)) }
        let raw = try byte()
        guard let known = Code(rawValue: Int32(raw)) else { throw Malformed("it has \(raw) for a \(Code.self)") }
        code = known
    }

    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code?, _ column: String
    ) throws(Malformed) {
        try wide(&code)
    }

    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits, _ column: String
    ) throws(Malformed) where Bits.RawValue == UInt32 {
        if isReading { bits = Bits(rawValue: try integer()) } else { write(bits.rawValue) }
    }

    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits?, _ column: String
    ) throws(Malformed) where Bits.RawValue == UInt32 {
        try field(&bits, as: { $0?.rawValue }, from: { (raw: UInt32?) in raw.map(Bits.init) })
    }

    mutating func field(_ text: inout String?, _ column: String) throws(Malformed) { try field(&text) }

    mutating func field(_ statuses: inout StatusList, _ column: String) throws(Malformed) { try field(&statuses) }

    mutating func field(_ statuses: inout StatusList?, _ column: String) throws(Malformed) { try field(&statuses) }

    mutating func field(_ hours: inout QuietHours?, _ column: String) throws(Malformed) { try field(&hours) }

    mutating func field(_ headers: inout [HeaderField], _ column: String) throws(Malformed) { try field(&headers) }
}
