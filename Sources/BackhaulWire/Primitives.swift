internal import BackhaulModel

// Integers and texts as elements of lists and optionals, and the identifiers that wrap an integer.

extension WireValue where Self: FixedWidthInteger {
    func encode(into encoder: inout Encoder) { encoder.integer(self) }
    init(from decoder: inout Decoder) throws(Malformed) { self = try decoder.integer() }
}

extension UInt8: WireValue {}
extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int32: WireValue {}
extension Int64: WireValue {}

extension String: WireElement {
    static var minimumSize: Int { 4 }
    func encode(into encoder: inout Encoder) { encoder.put(self) }
    init(from decoder: inout Decoder) throws(Malformed) { self = try decoder.string() }
}

/// Bytes that are not text, such as `user_data`.
struct WireData: WireValue {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func encode(into encoder: inout Encoder) { encoder.put(bytes) }
    init(from decoder: inout Decoder) throws(Malformed) { bytes = try decoder.data() }
}

extension WireValue where Self: RawRepresentable, RawValue == UInt64 {
    func encode(into encoder: inout Encoder) { encoder.put(rawValue) }
    init(from decoder: inout Decoder) throws(Malformed) {
        let raw: UInt64 = try decoder.integer()
        guard let value = Self(rawValue: raw) else { throw Malformed("it has \(raw) for a \(Self.self)") }
        self = value
    }
}

extension SessionID: WireValue {}
extension HandleID: WireValue {}
extension TaskID: WireElement { static var minimumSize: Int { 8 } }
extension EventID: WireElement { static var minimumSize: Int { 8 } }

extension ClientID: WireElement {
    static var minimumSize: Int { 16 }
    func encode(into encoder: inout Encoder) {
        encoder.put(high)
        encoder.put(low)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(high: try decoder.integer(), low: try decoder.integer())
    }
}
