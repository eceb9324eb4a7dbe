/// Appends values to a frame. Written by hand, like its counterpart: libraries for this trap on bad input, bring
/// Foundation, or cannot bound what a hostile peer makes them allocate.
struct Encoder {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func tag(_ value: UInt8) { bytes.append(value) }

    /// Little endian.
    mutating func integer<Integer: FixedWidthInteger>(_ value: Integer) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(truncatingIfNeeded: shift)))
        }
    }

    mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func put(_ value: [UInt8]) {
        integer(UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }

    mutating func put(_ value: String) {
        var value = value
        value.makeContiguousUTF8()
        integer(UInt32(truncatingIfNeeded: value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func put<Value: WireValue>(_ value: Value) { value.encode(into: &self) }

    /// A value that a small number stands for, such as `Role`.
    mutating func put<Value: RawRepresentable>(code value: Value) where Value.RawValue == Int32 {
        bytes.append(UInt8(truncatingIfNeeded: value.rawValue))
    }

    mutating func put<Element: WireElement>(_ values: [Element]) {
        integer(UInt32(truncatingIfNeeded: values.count))
        for value in values { value.encode(into: &self) }
    }

    mutating func put<Value: WireValue>(_ value: Value?) {
        put(value != nil)
        if let value { value.encode(into: &self) }
    }

    /// Writes the length of what follows `position` into the four bytes there.
    mutating func setLength(at position: Int) {
        let length = UInt32(truncatingIfNeeded: bytes.count - position - 4)
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index)) }
    }
}

/// What can be written into a frame and read from one. The order of the fields is the format: docs/wire.md.
protocol WireValue {
    func encode(into encoder: inout Encoder)
    init(from decoder: inout Decoder) throws(Malformed)
}

/// What lists are made of.
protocol WireElement: WireValue {
    /// No encoding is shorter, so that a count can be checked before anything is allocated for it.
    static var minimumSize: Int { get }
}
