/// The form in which a field is stored and sent.
public enum FieldKind: Equatable, Sendable {
    /// An integer without a sign. `bytes`: its size in messages.
    case number(bytes: Int)
    case flag
    /// A constant of include/backhaul.h.
    case code
    /// A set of the bits `known`.
    case bits(known: UInt32)
    case text
}

/// What a field contains: an integer (a number, flag, code or bits), or a text.
public enum FieldContent: Equatable, Sendable {
    case integer(UInt64)
    case text(String)
}

/// The type of a field.
public protocol FieldValue: Equatable, Sendable {
    static var kind: FieldKind { get }
    /// Returns nil if this version of the library does not know the content.
    init?(_ content: FieldContent)
    var content: FieldContent { get }
}

/// What is the same about a field in all places: the column, the error messages, the header and the bindings.
public struct Option<Value: FieldValue>: Sendable {
    /// The path of the field in the structs of include/backhaul.h: `retry.jitter_percent`. With underscores in place of
    /// the points, it is the name of the column.
    public let name: String
    /// The value in a session that does not state the option.
    public let standard: Value?
    /// The permitted numbers; nil: all.
    public let range: ClosedRange<UInt64>?

    @inlinable
    init(name: String, standard: Value?, range: ClosedRange<UInt64>?) {
        self.name = name
        self.standard = standard
        self.range = range
    }
}

/// Visits each field of a configuration, a policy, constraints, the options of a request, or metrics. Each of these
/// types has one function, `visitFields`, that visits the type's fields in the order in which messages contain them.
/// Some visitors read a message or a row of the database, and set the fields. Other visitors write the fields to a
/// message or a row, check them, or list them.
public protocol FieldVisitor {
    associatedtype Problem: Error

    mutating func visit<Value: FieldValue>(_ value: inout Value, _ option: Option<Value>) throws(Problem)
    mutating func visit<Value: FieldValue>(_ value: inout Value?, _ option: Option<Value>) throws(Problem)
    mutating func visit(_ headers: inout [HeaderField], _ name: String) throws(Problem)
}

// Inlinable, so that a visitor in another module is specialized. This saves some 1,200 instructions a field.
extension FieldVisitor {
    @inlinable
    public mutating func field<Value: FieldValue>(
        _ value: inout Value, _ name: String, _ range: ClosedRange<UInt64>? = nil
    ) throws(Problem) {
        try visit(&value, Option(name: name, standard: nil, range: range))
    }

    @inlinable
    public mutating func field<Value: FieldValue>(
        _ value: inout Value?, _ name: String, default standard: Value? = nil, _ range: ClosedRange<UInt64>? = nil
    ) throws(Problem) {
        try visit(&value, Option(name: name, standard: standard, range: range))
    }
}

// MARK: Types of fields

extension FieldValue where Self: FixedWidthInteger {
    public static var kind: FieldKind { .number(bytes: bitWidth / 8) }

    public init?(_ content: FieldContent) {
        guard case .integer(let bits) = content else { return nil }
        if Self.isSigned {
            self.init(truncatingIfNeeded: bits)
        } else {
            self.init(exactly: bits)
        }
    }

    public var content: FieldContent { .integer(UInt64(truncatingIfNeeded: self)) }
}

extension UInt8: FieldValue {}
extension UInt16: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}
extension Int64: FieldValue {}

extension Bool: FieldValue {
    public static var kind: FieldKind { .flag }

    public init?(_ content: FieldContent) {
        guard case .integer(let bits) = content else { return nil }
        self = bits != 0
    }

    public var content: FieldContent { .integer(self ? 1 : 0) }
}

extension FieldValue where Self: RawRepresentable<Int32> {
    public static var kind: FieldKind { .code }

    public init?(_ content: FieldContent) {
        guard case .integer(let bits) = content, let code = Int32(exactly: bits) else { return nil }
        self.init(rawValue: code)
    }

    public var content: FieldContent { .integer(UInt64(truncatingIfNeeded: rawValue)) }
}

extension HTTPVersion: FieldValue {}
extension RedirectPolicy: FieldValue {}
extension ResumableUploads: FieldValue {}
extension CookiePolicy: FieldValue {}
extension TLSConfiguration.Version: FieldValue {}
extension ConstraintPreset: FieldValue {}
extension ThermalState: FieldValue {}
extension RefreshKind: FieldValue {}

/// A set of bits. `all` has the bits that this version of the library knows.
public protocol BitsValue: FieldValue, OptionSet where RawValue == UInt32 {
    static var all: Self { get }
}

extension BitsValue {
    public static var kind: FieldKind { .bits(known: all.rawValue) }

    public init?(_ content: FieldContent) {
        guard case .integer(let bits) = content else { return nil }
        self.init(rawValue: UInt32(truncatingIfNeeded: bits))
    }

    public var content: FieldContent { .integer(UInt64(rawValue)) }
}

extension RetryErrors: BitsValue {}
extension Tolerances: BitsValue {}
extension NetworkKinds: BitsValue {}

/// A value that is stored and sent as its text.
public protocol TextValue: FieldValue {
    init?(_ text: String)
    var text: String { get }
}

extension TextValue {
    public static var kind: FieldKind { .text }

    public init?(_ content: FieldContent) {
        guard case .text(let text) = content else { return nil }
        self.init(text)
    }

    public var content: FieldContent { .text(text) }
}

extension StatusList: TextValue {}
extension QuietHours: TextValue {}
extension Checksum: TextValue {}

extension String: FieldValue {
    public static var kind: FieldKind { .text }

    public init?(_ content: FieldContent) {
        guard case .text(let text) = content else { return nil }
        self = text
    }

    public var content: FieldContent { .text(self) }
}
