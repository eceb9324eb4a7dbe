/// A value of one of the D-Bus types that the project uses (D-Bus specification, "Type System").
public indirect enum BusValue: Equatable, Sendable {
    case string(String)
    /// The path of an object.
    case path(String)
    case bool(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// An array. The string is the signature of an element.
    case array(String, [BusValue])
    case structure([BusValue])
    case variant(BusValue)
    /// A property in a list of properties: its name and its value, which becomes a variant.
    case property(String, BusValue)

    public static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map { .string($0) }) }

    /// A list of properties (`a{sv}`).
    public static func properties(_ properties: [(name: String, value: BusValue)]) -> BusValue {
        .array("{sv}", properties.map { .property($0.name, $0.value) })
    }

    public var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .bool: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .array(let element, _): "a" + element
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        case .property: "{sv}"
        }
    }
}

/// An error of sd-bus, as an errno.
public struct BusError: Error {
    public var code: Int32

    static func check(_ result: Int32) throws(BusError) {
        if result < 0 { throw BusError(code: -result) }
    }
}
