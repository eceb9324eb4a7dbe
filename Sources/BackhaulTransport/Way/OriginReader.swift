public import BackhaulModel

/// Reads the origins of many URLs, and caches the last one, because neighbours mostly have the same origin. The results
/// are those of `WebAddress`. Its call of libcurl costs as much as all other checks of a small request.
public struct OriginReader: Sendable {
    /// The scheme and authority as written, with the slash after them.
    private var start: [UInt8] = []
    private var origin: Origin?

    public init() {}

    /// Throws the errors of `WebAddress.origin(of:)`.
    public mutating func origin(of url: String) throws(Failure) -> Origin {
        // The text after the slash does not affect the origin (RFC 3986, section 3.2), and must only be clean.
        if let origin, url.utf8.count <= Limits.urlSize, url.utf8.starts(with: start),
            url.utf8.allSatisfy(WebAddress.isClean)
        {
            return origin
        }
        let read = try WebAddress.origin(of: url)
        start = Self.start(of: url)
        origin = start.isEmpty ? nil : read
        return read
    }

    /// The scheme and authority with their slash; empty if no slash follows the authority.
    private static func start(of url: String) -> [UInt8] {
        var slashes = 0
        let text = url.utf8.prefix { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes < 3
        }
        return slashes < 3 ? [] : Array(text) + [UInt8(ascii: "/")]
    }
}
