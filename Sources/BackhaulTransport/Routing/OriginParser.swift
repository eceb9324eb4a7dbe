public import BackhaulModel

/// Reads the origins (scheme, host name and port) of many URLs, with the same results as `URLParser`. This type caches
/// the last origin, because consecutive URLs mostly have the same origin. One call of `URLParser` takes as long as all
/// other checks of a small request together.
public struct OriginParser: Sendable {
    /// The scheme and authority of the last URL as written, with the slash after them.
    private var start: [UInt8] = []
    private var origin: Origin?

    public init() {}

    /// Throws the errors of `URLParser.origin(of:)`.
    public mutating func origin(of url: String) throws(Failure) -> Origin {
        // The text after the slash does not affect the origin (RFC 3986, section 3.2). That text must contain no spaces
        // and no control characters.
        if let origin, url.utf8.count <= Limits.urlSize, url.utf8.starts(with: start),
            url.utf8.allSatisfy(URLParser.isClean)
        {
            return origin
        }
        let read = try URLParser.origin(of: url)
        start = Self.start(of: url)
        origin = start.isEmpty ? nil : read
        return read
    }

    /// Returns the scheme and authority with the slash after them, or an empty list if no slash follows.
    private static func start(of url: String) -> [UInt8] {
        var slashes = 0
        let text = url.utf8.prefix { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes < 3
        }
        return slashes < 3 ? [] : Array(text) + [UInt8(ascii: "/")]
    }
}
