/// When to look again at servers to which there was no way, as a value. Changes of the network are told as they come;
/// a flapping link tells many, and some that matter are not told at all.
public struct ConnectivityPacing: Equatable, Sendable {
    /// A change is mostly several: link, address, route.
    static let settling: Int64 = 300
    static let firstLook: Int64 = 5_000
    static let longestLook: Int64 = 300_000
    static let firstGap: Int64 = 500
    static let longestGap: Int64 = 60_000

    /// Looks in a row that found no way.
    private var looks = 0
    private var lastLook: Int64?

    public init() {}

    /// Some server has answered.
    public mutating func connected() { looks = 0 }

    /// Milliseconds until the next look when nothing is told before.
    public var untilLook: Int64 { min(Self.firstLook << Int64(looks), Self.longestLook) }

    /// Milliseconds until the look that a change of the network brings about. `now`: of a clock that never goes back.
    public func untilLook(afterChangeAt now: Int64) -> Int64 {
        let gap = looks == 0 ? 0 : min(Self.firstGap << Int64(looks - 1), Self.longestGap)
        let earliest = lastLook.map { $0 + gap - now } ?? 0
        return max(Self.settling, earliest)
    }

    public mutating func looked(at now: Int64) {
        lastLook = now
        // From here on the longest of both is reached.
        looks = min(looks + 1, 8)
    }
}

/// Which failures mean that no way leads to a server.
public enum Connectivity {
    /// What can be told of the way only where it begins.
    public struct Facts: Equatable, Sendable {
        /// The last attempt to connect found its network or host unreachable, or its network down.
        public var isUnreachable: Bool
        /// A packet to one of the system's name servers would find a route.
        public var reachesNameServer: Bool

        public init(isUnreachable: Bool, reachesNameServer: Bool) {
            self.isUnreachable = isUnreachable
            self.reachesNameServer = reachesNameServer
        }
    }

    /// A name that is not found where other names can be looked up is a wrong name, not a missing network. This machine
    /// is always reached from itself.
    public static func isMissing(_ failure: Failure, server: String, _ facts: @autoclosure () -> Facts) -> Bool {
        guard !isLoopback(server) else { return false }
        return switch failure.status {
        case .connectionFailed: facts().isUnreachable
        case .nameNotResolved: !facts().reachesNameServer
        default: false
        }
    }

    /// `server`: as in `Origin`. Names of this machine: RFC 6761, section 6.3.
    public static func isLoopback(_ server: String) -> Bool {
        if server == "[::1]" || server == "localhost" || server.hasSuffix(".localhost") { return true }
        let parts = server.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The name servers of a resolv.conf(5), as written; without any it is this machine.
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
