internal import BackhaulModel

/// Why bytes are malformed. The reason is the last clause of an error message, such as "it ends too early".
struct Malformed: Error {
    let reason: String
    /// The peer's protocol version and library version, if its protocol version differs from ours; otherwise nil.
    let peerVersions: Versions?

    init(_ reason: String, peerVersions: Versions? = nil) {
        self.reason = reason
        self.peerVersions = peerVersions
    }
}

/// Writes values into a frame, or reads them from the payload of a frame. One type does both, so that the description
/// of a record is compiled only one time. This type uses no library for binary formats. Some of the known libraries
/// trap on bad input, and some need Foundation. Others set no bound on the memory that a hostile peer makes them
/// allocate. A reader of this type does not trap on any input. The size of the input limits the memory that the reader
/// allocates. A writer never throws.
struct Coder {
    let isReading: Bool
    /// The bytes that were written.
    private(set) var bytes: [UInt8] = []
    private let input: ArraySlice<UInt8>
    private var position: Int

    /// Creates a writer.
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

    /// Writes or reads the next field of a record.
    mutating func field<Value: WireValue>(_ value: inout Value) throws(Malformed) {
        if isReading { value = try Value.read(from: &self) } else { value.write(to: &self) }
    }

    /// Writes or reads a record that is a field of another record.
    mutating func field<Record: WireRecord>(_ record: inout Record) throws(Malformed) { try record.code(with: &self) }

    /// Writes or reads a field as a value of another type.
    mutating func field<Value, Form: WireValue>(
        _ value: inout Value, as form: (Value) -> Form, from: (Form) throws(Malformed) -> Value
    ) throws(Malformed) {
        if isReading { value = try from(try Form.read(from: &self)) } else { form(value).write(to: &self) }
    }

    /// Writes or reads a code, which is a value of an enum whose cases have no fields. A reader uses `other` for a code
    /// that it does not know.
    mutating func code<Code: RawRepresentable<Int32>>(_ code: inout Code, orElse other: Code) throws(Malformed) {
        try field(&code, as: { UInt8(truncatingIfNeeded: $0.rawValue) }, from: { Code(rawValue: Int32($0)) ?? other })
    }
}

/// The functions of a writer.
extension Coder {
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    // The following functions write the byte of an enum's case, and then the fields of the case. There is an overload
    // for each number of fields, because the compiler does not specialize a parameter pack.

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

    /// Writes an integer in little endian.
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

    /// Sets the length field, which is the four bytes at `position`, to the number of bytes after this field.
    mutating func setLength(at position: Int) {
        let length = UInt32(truncatingIfNeeded: bytes.count - position - 4)
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index)) }
    }
}

/// The functions of a reader.
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

    /// Reads the next field of a case of an enum.
    mutating func next<Value: WireValue>(_ type: Value.Type = Value.self) throws(Malformed) -> Value {
        try Value.read(from: &self)
    }

    mutating func count() throws(Malformed) -> Int { Int(try integer(UInt32.self)) }

    /// Reads the number of elements of a list. Each element takes at least `minimumSize` bytes.
    mutating func count(of minimumSize: Int) throws(Malformed) -> Int {
        let count = try count()
        guard count <= remaining / minimumSize else {
            throw Malformed("it announces a list of \(count) that cannot fit")
        }
        return count
    }

    /// Reads a count, and then as many bytes as the count states.
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
