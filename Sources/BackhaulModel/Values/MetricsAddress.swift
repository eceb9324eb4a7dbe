/// Where the daemon serves its metrics: the value of its option `--metrics`.
public enum MetricsAddress: Equatable, Sendable {
    /// The absolute path of a Unix socket.
    case unix(path: String)
    /// A port of the loopback address 127.0.0.1, or ::1.
    case loopback(port: UInt16, isIPv6: Bool)

    public init(_ text: String) throws(Failure) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= Limits.pathSize else {
                throw Self.failure(text, "the path must be absolute, and name a file")
            }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), text[colon...].utf8.dropFirst().allSatisfy(\.isDigit),
            let port = UInt16(text[colon...].dropFirst()), port > 0
        else { throw Self.failure(text, "after the last colon, it needs a port from 1 to 65535") }
        switch text[..<colon] {
        case "127.0.0.1": self = .loopback(port: port, isIPv6: false)
        case "[::1]": self = .loopback(port: port, isIPv6: true)
        default: throw Self.failure(text, "the metrics have no password, so other machines may not reach them")
        }
    }

    private static func failure(_ text: String, _ reason: String) -> Failure {
        Failure(.invalidArgument, "takes unix:PATH, 127.0.0.1:PORT or [::1]:PORT, not '\(text)': \(reason)")
    }

    public var text: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .loopback(let port, let isIPv6): "\(isIPv6 ? "[::1]" : "127.0.0.1"):\(port)"
        }
    }
}
