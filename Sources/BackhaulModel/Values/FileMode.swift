/// The permission bits of a finished file.
public struct FileMode: RawRepresentable, Equatable, Sendable, ExpressibleByIntegerLiteral {
    private static let defaultFlag: UInt32 = 1 << 31

    /// The form in messages and in the database: the permission bits, with `defaultFlag` if the host gave no mode.
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A mode that the host demands. A default ACL or a replaced file does not change it. A number above 0777 is not
    /// valid.
    public init(_ bits: UInt32) { self.init(rawValue: min(bits, ~Self.defaultFlag)) }

    public init(integerLiteral bits: UInt32) { self.init(bits) }

    /// The mode if the host gave none: 0666 without the bits of the host's umask. As with open(2), the default ACL of
    /// the directory has precedence over the umask. A replaced file keeps its mode.
    public static func `default`(umask: UInt32) -> FileMode {
        FileMode(rawValue: 0o666 & ~umask | defaultFlag)
    }

    public var bits: UInt32 { rawValue & ~Self.defaultFlag }
    public var isDefault: Bool { rawValue & Self.defaultFlag != 0 }
    public var isValid: Bool { bits <= 0o777 }
}
