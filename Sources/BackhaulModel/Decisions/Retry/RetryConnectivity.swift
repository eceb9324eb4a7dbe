/// When to try again after there was no route to a server, as a value. The system reports changes of the network. A
/// flapping link causes many reports, and some changes that matter cause none.
public struct ConnectivityPacing: Equatable, Sendable {
    /// The delay after a change, in milliseconds: most changes consist of several, of link, address and route.
    static let settling: Int64 = 300
    static let firstLook: Int64 = 5_000
    static let longestLook: Int64 = 300_000
    static let firstGap: Int64 = 500
    static let longestGap: Int64 = 60_000

    /// Tests in a row that found no route.
    private var looks = 0
    private var lastLook: Int64?

    public init() {}

    /// A server has responded.
    public mutating func connected() { looks = 0 }

    /// Milliseconds until the next test if no change is reported before.
    public var untilLook: Int64 { min(Self.firstLook << Int64(looks), Self.longestLook) }

    /// Milliseconds until the test that follows a change of the network. `now`: of a clock that never goes back.
    public func untilLook(afterChangeAt now: Int64) -> Int64 {
        let gap = looks == 0 ? 0 : min(Self.firstGap << Int64(looks - 1), Self.longestGap)
        let earliest = lastLook.map { $0 + gap - now } ?? 0
        return max(Self.settling, earliest)
    }

    public mutating func looked(at now: Int64) {
        lastLook = now
        // With eight, both delays have reached their maximum.
        looks = min(looks + 1, 8)
    }
}

/// Which failures mean that there is no route to a server.
public enum Connectivity {
    /// Facts about the route that only this machine can know.
    public struct Facts: Equatable, Sendable {
        /// Whether the last attempt to connect found its network or host unreachable, or its network down.
        public var isUnreachable: Bool
        /// Whether there is a route to one of the system's name servers.
        public var reachesNameServer: Bool

        public init(isUnreachable: Bool, reachesNameServer: Bool) {
            self.isUnreachable = isUnreachable
            self.reachesNameServer = reachesNameServer
        }
    }

    /// Whether the failure means that the network is missing. A name that is not found although the name servers are
    /// reachable is a wrong name. This machine can always reach itself.
    public static func isMissing(_ failure: Failure, server: String, _ facts: @autoclosure () -> Facts) -> Bool {
        guard !isLoopback(server) else { return false }
        return switch failure.status {
        case .connectionFailed: facts().isUnreachable
        case .nameNotResolved: !facts().reachesNameServer
        default: false
        }
    }

    /// Whether the server is this machine (RFC 6761, section 6.3). `server`: as in `Origin`.
    public static func isLoopback(_ server: String) -> Bool {
        if server == "[::1]" || server == "localhost" || server.hasSuffix(".localhost") { return true }
        let parts = server.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The name servers of a resolv.conf(5), as written. Without any, it is this machine.
    public static func nameServers(_ text: String) -> [String] {
        let found = text.split(whereSeparator: \.isNewline).compactMap { line -> String? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            return String(words[1])
        }
        // MAXNS of glibc's resolver.
        return found.isEmpty ? ["127.0.0.1"] : Array(found.prefix(3))
    }
}
