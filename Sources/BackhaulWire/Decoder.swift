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

/// Takes values from the payload of one frame. No input makes it trap, and what it allocates is bounded by the size of
/// its input.
struct Decoder {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var remaining: Int { bytes.endIndex - position }

    private mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw Malformed("it ends too early") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard remaining > 0 else { throw Malformed("it ends too early") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(Malformed) -> Integer {
        let size = Integer.bitWidth / 8
        guard size <= remaining else { throw Malformed("it ends too early") }
        var value: Integer = 0
        for index in 0..<size {
            value |= Integer(truncatingIfNeeded: bytes[position + index]) << Integer(truncatingIfNeeded: 8 * index)
        }
        position += size
        return value
    }

    mutating func bool() throws(Malformed) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        case let other: throw Malformed("it has \(other) in the place of a truth value")
        }
    }

    mutating func data() throws(Malformed) -> [UInt8] {
        let count = try integer(UInt32.self)
        return [UInt8](try take(Int(count)))
    }

    mutating func string() throws(Malformed) -> String {
        let count = try integer(UInt32.self)
        guard let text = String(validating: try take(Int(count)), as: UTF8.self) else {
            throw Malformed("it has text that is not UTF-8")
        }
        return text
    }

    mutating func value<Value: WireValue>(_ type: Value.Type = Value.self) throws(Malformed) -> Value {
        try Value(from: &self)
    }

    mutating func code<Value: RawRepresentable>(
        _ type: Value.Type = Value.self
    ) throws(Malformed) -> Value where Value.RawValue == Int32 {
        let raw = try byte()
        guard let value = Value(rawValue: Int32(raw)) else { throw Malformed("it has \(raw) for a \(type)") }
        return value
    }

    mutating func list<Element: WireElement>(_ type: Element.Type = Element.self) throws(Malformed) -> [Element] {
        let count = Int(try integer(UInt32.self))
        guard count <= remaining / Element.minimumSize else {
            throw Malformed("it announces a list of \(count) that cannot fit")
        }
        var values: [Element] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try Element(from: &self)) }
        return values
    }

    mutating func optional<Value: WireValue>(_ type: Value.Type = Value.self) throws(Malformed) -> Value? {
        try bool() ? try Value(from: &self) : nil
    }

    func finish() throws(Malformed) {
        guard remaining == 0 else { throw Malformed("it has \(remaining) bytes too many") }
    }
}
