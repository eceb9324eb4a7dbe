#if DEBUG
internal import Glibc
#endif

/// The versions of one end of a connection between a client and the engine. Both ends send their versions first, in a
/// form that never changes.
public struct Versions: Equatable, Sendable {
    /// The version of the protocol, which must be the same at both ends.
    public var wire: UInt16
    /// The version of the library, in the form of BH_VERSION.
    public var library: UInt32

    public init(wire: UInt16, library: UInt32) {
        self.wire = wire
        self.library = library
    }

    /// The versions of this library: the version of the protocol in docs/wire.md, and BH_VERSION of include/backhaul.h.
    /// A test compares `library` with the header.
    public static let built = Versions(wire: 1, library: 0x01_00_00)

    #if DEBUG
    /// Tests make a debug build pretend to be another version: BACKHAUL_VERSION=LIBRARY/WIRE, such as 9.0.1/7.
    public static let current: Versions = {
        guard let text = getenv("BACKHAUL_VERSION").map({ String(cString: $0) }) else { return built }
        let numbers = text.split(whereSeparator: { $0 == "." || $0 == "/" }).compactMap { UInt32($0) }
        guard numbers.count == 4, numbers.allSatisfy({ $0 < 256 }) else { return built }
        return Versions(wire: UInt16(numbers[3]), library: numbers[0] << 16 | numbers[1] << 8 | numbers[2])
    }()
    #else
    public static let current = built
    #endif

    /// Text such as "0.2.0".
    public var libraryText: String { "\(library >> 16).\(library >> 8 & 0xFF).\(library & 0xFF)" }
}

/// An engine's reply to *hello*, the first message of a client. All versions of the library have the same form of this
/// reply.
public struct Welcome: Equatable, Sendable {
    public var versions: Versions
    /// Whether the engine is a daemon, which is a process that only runs an engine. A daemon exits when a newer library
    /// requests the exit. An engine inside a host does not exit.
    public var isDaemon: Bool
    public var process: Int32

    public init(versions: Versions, isDaemon: Bool, process: Int32) {
        self.versions = versions
        self.isDaemon = isDaemon
        self.process = process
    }
}
