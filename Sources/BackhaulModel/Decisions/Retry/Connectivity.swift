/// Decides when to check again for a route to a server while there is no route. The system reports changes of the
/// network. But a link that often fails and returns (flaps) causes many reports, and some important changes cause no
/// report. So checks are delayed after reports, and are also made without reports.
public struct ConnectivityCheckBackoff: Equatable, Sendable {
    /// The delay between a report of a change and the check, in milliseconds. One change usually causes several
    /// reports, about the link, the address and the route. Because of the delay, one check follows all of these
    /// reports.
    static let settling: Int64 = 300
    static let firstCheckMilliseconds: Int64 = 5_000
    static let maximumCheckMilliseconds: Int64 = 300_000
    static let firstGap: Int64 = 500
    static let maximumGapMilliseconds: Int64 = 60_000

    /// How many checks in a row found no route.
    private var failedChecks = 0
    private var lastCheck: Int64?

    public init() {}

    /// Notes that a server has responded.
    public mutating func connected() { failedChecks = 0 }

    /// The milliseconds until the next check, if the system reports no change until then.
    public var millisecondsUntilCheck: Int64 {
        min(Self.firstCheckMilliseconds << Int64(failedChecks), Self.maximumCheckMilliseconds)
    }

    /// The milliseconds until the check that follows a change of the network. `now`: the time in milliseconds, by a
    /// clock that never goes back.
    public func millisecondsUntilCheck(afterChangeAt now: Int64) -> Int64 {
        let gap = failedChecks == 0 ? 0 : min(Self.firstGap << Int64(failedChecks - 1), Self.maximumGapMilliseconds)
        let earliest = lastCheck.map { $0 + gap - now } ?? 0
        return max(Self.settling, earliest)
    }

    public mutating func noteCheck(at now: Int64) {
        lastCheck = now
        // After eight checks, both delays have reached their maximum.
        failedChecks = min(failedChecks + 1, 8)
    }
}

/// Decides which failures mean that there is no route to a server.
public enum Connectivity {
    /// Facts about the route, which are read from the system.
    public struct Facts: Equatable, Sendable {
        /// Whether the last attempt to connect failed because the kernel has no route, or a network or machine was
        /// unreachable, or a network was down.
        public var isUnreachable: Bool
        /// Whether there is a route to one of the system's name servers.
        public var hasRouteToNameServer: Bool

        public init(isUnreachable: Bool, hasRouteToNameServer: Bool) {
            self.isUnreachable = isUnreachable
            self.hasRouteToNameServer = hasRouteToNameServer
        }
    }

    /// Whether the failure means that there is no route to the server. If there is a route to a name server, a name
    /// that cannot be resolved is a wrong name. A route to this machine itself is never missing.
    public static func isRouteMissing(_ failure: Failure, server: String, _ facts: @autoclosure () -> Facts) -> Bool {
        guard !isLoopback(server) else { return false }
        return switch failure.status {
        case .connectionFailed: facts().isUnreachable
        case .nameNotResolved: !facts().hasRouteToNameServer
        default: false
        }
    }

    /// Whether the server is this machine (RFC 6761, section 6.3). `server`: in the form of `Origin.server`.
    public static func isLoopback(_ server: String) -> Bool {
        if server == "[::1]" || server == "localhost" || server.hasSuffix(".localhost") { return true }
        let parts = server.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8(digits: $0) != nil }
    }

    /// Whether the text is a link-local address of IPv6 (RFC 4291, section 2.5.6), as made by inet_ntop(3).
    public static func isLinkLocal(_ address: String) -> Bool {
        ["fe8", "fe9", "fea", "feb"].contains { address.hasPrefix($0) && address.dropFirst(4).first == ":" }
    }

    /// The name servers in the text of a resolv.conf(5), in the spelling of the text. If the text has no name server,
    /// this machine is the name server.
    public static func nameServers(_ text: String) -> [String] {
        let found = text.split(whereSeparator: \.isNewline).compactMap { line -> String? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            return String(words[1])
        }
        // The limit of three is MAXNS of glibc's resolver.
        return found.isEmpty ? ["127.0.0.1"] : Array(found.prefix(3))
    }
}
