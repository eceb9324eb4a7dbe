internal import BackhaulModel

/// Why bytes are not what they should be: the end of a sentence, "it has …".
struct Malformed: Error {
    let reason: String
    /// The peer's, when it is not ours.
    let otherVersions: Versions?

    init(_ reason: String, otherVersions: Versions? = nil) {
        self.reason = reason
        self.otherVersions = otherVersions
    }
}

/// Writes values into a frame, or reads them from the payload of one. It is one type, and not two, so that the
/// description of a record is compiled once. Written by hand: libraries for this trap on bad input, bring Foundation,
/// or cannot bound what a hostile peer makes them allocate. No input makes a reader trap, and what it allocates is
/// bounded by the size of its input. A writer never throws.
struct Coder {
    let isReading: Bool
    /// What was written.
    private(set) var bytes: [UInt8] = []
    private let input: ArraySlice<UInt8>
    private var position: Int

    /// A writer.
    init() {
        isReading = false
        input = []
        position = 0
    }

    init(reading input: ArraySlice<UInt8>) {
        isReading = true
        self.input = input
        position = input.startIndex
    }

    /// The next field of a record.
    mutating func field<Value: WireValue>(_ value: inout Value) throws(Malformed) {
        if isReading { value = try Value.read(from: &self) } else { value.write(to: &self) }
    }

    /// A record that is part of another one is visited in its place.
    mutating func field<Record: WireRecord>(_ record: inout Record) throws(Malformed) { try record.visit(with: &self) }

    /// A field that is written as a value of another type.
    mutating func field<Value, Form: WireValue>(
        _ value: inout Value, as form: (Value) -> Form, from: (Form) throws(Malformed) -> Value
    ) throws(Malformed) {
        if isReading { value = try from(try Form.read(from: &self)) } else { form(value).write(to: &self) }
    }

    /// A code for which a reader that does not know it takes another.
    mutating func code<Code: RawRepresentable<Int32>>(_ code: inout Code, orElse other: Code) throws(Malformed) {
        try field(&code, as: { UInt8(truncatingIfNeeded: $0.rawValue) }, from: { Code(rawValue: Int32($0)) ?? other })
    }

    /// An optional flag: four bytes behind its presence.
    mutating func wide(_ flag: inout Bool?) throws(Malformed) {
        try field(&flag, as: { flag in flag.map { $0 ? 1 : 0 as UInt32 } }, from: { number in number.map { $0 != 0 } })
    }

    /// An optional code: four bytes behind its presence.
    mutating func wide<Code: RawRepresentable>(_ code: inout Code?) throws(Malformed) where Code.RawValue == Int32 {
        try field(&code, as: { $0?.rawValue }) { (raw: Int32?) throws(Malformed) in
            guard let raw else { return nil }
            guard let code = Code(rawValue: raw) else { throw Malformed("it has \(raw) for a \(Code.self)") }
            return code
        }
    }
}

/// Writing.
extension Coder {
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    // The byte of an enum's case, and the fields of the case. Overloads, because a parameter pack is not specialized.

    mutating func put<Form: RawRepresentable<UInt8>>(_ form: Form) { write(byte: form.rawValue) }

    mutating func put<Form: RawRepresentable<UInt8>>(_ form: Form, _ first: some WireValue) {
        put(form)
        first.write(to: &self)
    }

    mutating func put<Form: RawRepresentable<UInt8>>(_ form: Form, _ first: some WireValue, _ second: some WireValue) {
        put(form, first)
        second.write(to: &self)
    }

    mutating func put<Form: RawRepresentable<UInt8>>(
        _ form: Form, _ first: some WireValue, _ second: some WireValue, _ third: some WireValue
    ) {
        put(form, first, second)
        third.write(to: &self)
    }

    mutating func put<Form: RawRepresentable<UInt8>>(
        _ form: Form, _ first: some WireValue, _ second: some WireValue, _ third: some WireValue,
        _ fourth: some WireValue
    ) {
        put(form, first, second, third)
        fourth.write(to: &self)
    }

    mutating func write(byte: UInt8) { bytes.append(byte) }

    /// Little endian.
    mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(truncatingIfNeeded: shift)))
        }
    }

    mutating func write(count: Int) { write(UInt32(truncatingIfNeeded: count)) }

    mutating func write<Bytes: Collection<UInt8>>(counted value: Bytes) {
        write(count: value.count)
        bytes.append(contentsOf: value)
    }

    /// Writes the length of what follows `position` into the four bytes there.
    mutating func setLength(at position: Int) {
        let length = UInt32(truncatingIfNeeded: bytes.count - position - 4)
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index)) }
    }
}

/// Reading.
extension Coder {
    var remaining: Int { input.endIndex - position }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard remaining > 0 else { throw Malformed("it ends too early") }
        defer { position += 1 }
        return input[position]
    }

    mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ type: Integer.Type = Integer.self
    ) throws(Malformed) -> Integer {
        let size = Integer.bitWidth / 8
        guard size <= remaining else { throw Malformed("it ends too early") }
        defer { position += size }
        let offset = position - input.startIndex
        let value = input.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Integer.self) }
        return Integer(littleEndian: value)
    }

    /// The next field of an enum's case.
    mutating func next<Value: WireValue>(_ type: Value.Type = Value.self) throws(Malformed) -> Value {
        try Value.read(from: &self)
    }

    mutating func count() throws(Malformed) -> Int { Int(try integer(UInt32.self)) }

    /// Of a list whose elements have so many bytes at least.
    mutating func count(of minimumSize: Int) throws(Malformed) -> Int {
        let count = try count()
        guard count <= remaining / minimumSize else {
            throw Malformed("it announces a list of \(count) that cannot fit")
        }
        return count
    }

    /// Bytes behind their count.
    mutating func counted() throws(Malformed) -> ArraySlice<UInt8> {
        let count = try count()
        guard count <= remaining else { throw Malformed("it ends too early") }
        defer { position += count }
        return input[position..<position + count]
    }

    func finish() throws(Malformed) {
        guard remaining == 0 else { throw Malformed("it has \(remaining) bytes too many") }
    }
}
