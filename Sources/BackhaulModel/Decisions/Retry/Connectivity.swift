/// When to try again after there was no route to a server, as a value. The system reports changes of the network. A
/// flapping link causes many reports, and some changes that matter cause none.
public struct ConnectivityCheckBackoff: Equatable, Sendable {
    /// The delay after a change, in milliseconds: most changes consist of several, of link, address and route.
    static let settling: Int64 = 300
    static let firstCheckMilliseconds: Int64 = 5_000
    static let maximumCheckMilliseconds: Int64 = 300_000
    static let firstGap: Int64 = 500
    static let maximumGapMilliseconds: Int64 = 60_000

    /// Tests in a row that found no route.
    private var failedChecks = 0
    private var lastCheck: Int64?

    public init() {}

    /// A server has responded.
    public mutating func connected() { failedChecks = 0 }

    /// Milliseconds until the next test if no change is reported before.
    public var millisecondsUntilCheck: Int64 {
        min(Self.firstCheckMilliseconds << Int64(failedChecks), Self.maximumCheckMilliseconds)
    }

    /// Milliseconds until the test that follows a change of the network. `now`: of a clock that never goes back.
    public func millisecondsUntilCheck(afterChangeAt now: Int64) -> Int64 {
        let gap = failedChecks == 0 ? 0 : min(Self.firstGap << Int64(failedChecks - 1), Self.maximumGapMilliseconds)
        let earliest = lastCheck.map { $0 + gap - now } ?? 0
        return max(Self.settling, earliest)
    }

    public mutating func looked(at now: Int64) {
        lastCheck = now
        // With eight, both delays have reached their maximum.
        failedChecks = min(failedChecks + 1, 8)
    }
}

/// Which failures mean that there is no route to a server.
public enum Connectivity {
    /// Facts about the route that only this machine can know.
    public struct Facts: Equatable, Sendable {
        /// Whether the last attempt to connect found its network or host unreachable, or its network down.
        public var isUnreachable: Bool
        /// Whether there is a route to one of the system's name servers.
        public var hasRouteToNameServer: Bool

        public init(isUnreachable: Bool, hasRouteToNameServer: Bool) {
            self.isUnreachable = isUnreachable
            self.hasRouteToNameServer = hasRouteToNameServer
        }
    }

    /// Whether the failure means that the network is missing. A name that is not found although the name servers are
    /// reachable is a wrong name. This machine can always reach itself.
    public static func isRouteMissing(_ failure: Failure, server: String, _ facts: @autoclosure () -> Facts) -> Bool {
        guard !isLoopback(server) else { return false }
        return switch failure.status {
        case .connectionFailed: facts().isUnreachable
        case .nameNotResolved: !facts().hasRouteToNameServer
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
