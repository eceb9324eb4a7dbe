/// A value of one of the D-Bus types that the project uses (D-Bus specification, "Type System").
public indirect enum BusValue: Equatable, Sendable {
    case string(String)
    /// The path of an object.
    case path(String)
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint64(UInt64)
    /// An array. The string is the signature of an element.
    case array(String, [BusValue])
    case structure([BusValue])
    case variant(BusValue)

    public static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map { .string($0) }) }

    public var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .bool: "b"
        case .int32: "i"
        case .uint32: "u"
        case .uint64: "t"
        case .array(let element, _): "a" + element
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
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
