public import BackhaulModel

/// Reads the origins of many URLs, of which neighbours mostly have the same. Its answers are those of `WebAddress`,
/// which costs libcurl's reader as much as everything else that is checked of a small request.
public struct OriginReader: Sendable {
    /// Scheme and authority as they were written, with the slash behind them.
    private var start: [UInt8] = []
    private var origin: Origin?

    public init() {}

    /// Throws as `WebAddress.origin(of:)`.
    public mutating func origin(of url: String) throws(Failure) -> Origin {
        // What follows the slash says nothing of the server (RFC 3986, section 3.2), and need only be clean.
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

    /// Empty where no slash follows the authority.
    private static func start(of url: String) -> [UInt8] {
        var slashes = 0
        let text = url.utf8.prefix { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes < 3
        }
        return slashes < 3 ? [] : Array(text) + [UInt8(ascii: "/")]
    }
}
