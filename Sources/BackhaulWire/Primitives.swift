internal import BackhaulModel

// Writes and reads the simple values in messages: integers, truth values, texts, identifiers and codes (docs/wire.md).
extension WireValue where Self: FixedWidthInteger & BitwiseCopyable {
    func write(to coder: inout Coder) { coder.write(self) }
    static func read(from coder: inout Coder) throws(Malformed) -> Self { try coder.integer() }
}

extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int32: WireValue {}
extension Int64: WireValue {}

/// Values that are not text, such as `user_data`, are lists of bytes. The bytes of a list are copied as a whole.
extension UInt8: WireElement {
    static var minimumSize: Int { 1 }
    static func write(_ list: [UInt8], to coder: inout Coder) { coder.write(counted: list) }
    static func readList(from coder: inout Coder) throws(Malformed) -> [UInt8] { [UInt8](try coder.counted()) }
}

extension Bool: WireValue {
    func write(to coder: inout Coder) { coder.write(byte: self ? 1 : 0) }
    static func read(from coder: inout Coder) throws(Malformed) -> Bool {
        switch try coder.byte() {
        case 0: return false
        case 1: return true
        case let other: throw Malformed("it has \(other) in the place of a truth value")
        }
    }
}

extension String: WireElement {
    static var minimumSize: Int { 4 }
    func write(to coder: inout Coder) {
        var text = self
        text.makeContiguousUTF8()
        coder.write(counted: text.utf8)
    }
    static func read(from coder: inout Coder) throws(Malformed) -> String {
        guard let text = String(validating: try coder.counted(), as: UTF8.self) else {
            throw Malformed("it has text that is not UTF-8")
        }
        return text
    }
}

// Identifiers. A client id has two integers; the other identifiers have one.

extension WireValue where Self: RawRepresentable, RawValue == UInt64 {
    func write(to coder: inout Coder) { coder.write(rawValue) }
    static func read(from coder: inout Coder) throws(Malformed) -> Self {
        let raw: UInt64 = try coder.integer()
        guard let value = Self(rawValue: raw) else { throw Malformed("it has \(raw) for a \(Self.self)") }
        return value
    }
}

extension SessionID: WireValue {}
extension HandleID: WireValue {}
extension ChallengeID: WireValue {}
extension LaunchID: WireValue {}
extension TaskID: WireElement { static var minimumSize: Int { 8 } }
extension EventID: WireElement { static var minimumSize: Int { 8 } }

extension ClientID: WireRecord, WireElement {
    static var minimumSize: Int { 16 }
    static var blank: ClientID { ClientID(high: 0, low: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&high)
        try coder.field(&low)
    }
}

// Codes. These are enums whose cases have no fields. The raw values are the constants of the C header.

extension WireValue where Self: RawRepresentable, RawValue == Int32 {
    func write(to coder: inout Coder) { coder.write(byte: UInt8(truncatingIfNeeded: rawValue)) }
    static func read(from coder: inout Coder) throws(Malformed) -> Self {
        let raw = try coder.byte()
        guard let value = Self(rawValue: Int32(raw)) else { throw Malformed("it has \(raw) for a \(Self.self)") }
        return value
    }
}

extension AttemptNext: WireValue {}
extension BodySource: WireValue {}
extension ConditionKind: WireValue {}
extension Enqueued.Disposition: WireValue {}
extension DependencyFailure: WireValue {}
extension ExistsPolicy: WireValue {}
extension LaunchState: WireValue {}
extension ProtectionSpace.Kind: WireValue {}
extension QualityOfService: WireValue {}
extension Role: WireValue {}
extension TaskKind: WireValue {}
extension TaskState: WireValue {}
extension WaitReason: WireValue {}

// Sets of flags.

extension WireValue where Self: OptionSet, RawValue == UInt32 {
    func write(to coder: inout Coder) { coder.write(rawValue) }
    static func read(from coder: inout Coder) throws(Malformed) -> Self { Self(rawValue: try coder.integer()) }
}

extension AuthenticationSchemes: WireValue {}
extension NetworkKinds: WireValue {}
extension TaskStates: WireValue {}
